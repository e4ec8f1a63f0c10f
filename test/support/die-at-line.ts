/**
 * `node --import die-at-line.ts …` with DIE_AT_LINE=<label> and DIE_AT_NTH=n: the process kills
 * itself, by SIGKILL, as soon as the n-th event of that label is out on its NDJSON.
 */
import { labelOf, type Event } from './event-label.ts';

const { stdout, env } = process;
const write = stdout.write.bind(stdout);
let met = 0;
stdout.write = (chunk: string | Uint8Array, ...rest: []) => {
  const isTaken = write(chunk, ...rest);
  if (labelOf(JSON.parse(String(chunk)) as Event) === env['DIE_AT_LINE']) met += 1;
  if (met === Number(env['DIE_AT_NTH'])) process.kill(process.pid, 'SIGKILL');
  return isTaken;
};
