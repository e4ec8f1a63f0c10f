import type { Screen } from './output.ts';
import { cut } from './text-width.ts';

export interface ProgressLine {
  /** What runs now; with counts where they are known, which adds the time left. */
  update(step: string, counts?: Counts): void;
  /** Removes the line, so that something else may be printed. */
  clear(): void;
}

interface Counts {
  readonly done: number;
  readonly total: number;
}

/**
 * Nothing is shown in the first second: what is quick needs no progress. From then on a terminal has one line that is drawn
 * anew, anything else a line for each step. Silent without a stream.
 */
export function progressLine(stream: NodeJS.WritableStream | undefined, { live, width = 80 }: Screen): ProgressLine {
  let current = { step: '', since: 0, text: '' };
  let timer: NodeJS.Timeout | undefined;
  let drawnAt = 0;
  let logged = '';
  const draw = () => {
    const { step, text } = current;
    drawnAt = performance.now();
    if (live) stream?.write(`\r\u001b[2K${cut(`${text} · ${seconds(drawnAt - current.since)}`, width - 1)}`);
    else if (step !== logged) stream?.write(`… ${step}\n`);
    logged = step;
  };
  return {
    update(step, counts) {
      const since = current.step === step ? current.since : performance.now();
      current = { step, since, text: `… ${step}${counts === undefined ? '' : remaining(counts, performance.now() - since)}` };
      timer ??= setInterval(draw, 1000).unref();
      if (drawnAt > 0 && performance.now() - drawnAt > 80) draw();
    },
    clear() {
      clearInterval(timer);
      timer = undefined;
      if (live && drawnAt > 0) stream?.write('\r\u001b[2K');
      drawnAt = 0;
    },
  };
}

function remaining({ done, total }: Counts, ms: number): string {
  const left = done > 0 && ms > 2000 ? ` · about ${seconds((ms / done) * (total - done))} left` : '';
  return ` · ${done}/${total}${left}`;
}

function seconds(ms: number): string {
  return `${Math.ceil(ms / 1000)} s`;
}
