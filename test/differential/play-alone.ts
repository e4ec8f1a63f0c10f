import { parentPort, workerData } from 'node:worker_threads';
import type { Compared } from './outcome.ts';
import { openPlayer } from './player.ts';
import type { ResponseScript } from './response-script.ts';

/** A thread that plays one script and reports its outcome. */
const { script, subject } = workerData as { script: ResponseScript; subject: Compared };
const player = await openPlayer();
try {
  parentPort?.postMessage(await player.play(script, subject), []);
} finally {
  await player.close();
}
