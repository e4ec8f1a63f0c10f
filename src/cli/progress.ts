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
  let [step, text, shown] = ['', '', ''];
  let [started, since] = [0, 0];
  let timer: NodeJS.Timeout | undefined;
  const draw = () => {
    const now = performance.now();
    if (now - started < 1000) return;
    const line = live ? `\r\u001b[2K${cut(`${text} · ${seconds(now - since)}`, width - 1)}` : `… ${step}\n`;
    if (line !== shown) stream?.write(line);
    shown = line;
  };
  return {
    update(next, counts) {
      const now = performance.now();
      if (timer === undefined) started = now;
      timer ??= setInterval(draw, 100).unref();
      if (next !== step) since = now;
      step = next;
      text = `… ${step}${counts === undefined ? '' : remaining(counts, now - since)}`;
    },
    clear() {
      clearInterval(timer);
      timer = undefined;
      if (live && shown !== '') stream?.write('\r\u001b[2K');
      shown = '';
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
