import { cut } from './text-width.ts';

export interface ProgressLine {
  /** What runs now; with counts where they are known, which adds the time left. */
  update(step: string, counts?: { readonly done: number; readonly total: number }): void;
  /** Removes the line, so that something else may be printed. */
  clear(): void;
}

interface ProgressOptions {
  readonly stream: NodeJS.WritableStream;
  /** `line` redraws one line, `log` prints a line for each new step, `none` is silent. */
  readonly mode: 'line' | 'log' | 'none';
  readonly width: number;
}

/** Nothing is shown in the first second: what is quick needs no progress. */
const quietMs = 1000;

export function progressLine({ stream, mode, width }: ProgressOptions): ProgressLine {
  const started = performance.now();
  let step = '';
  let stepStarted = started;
  let drawn = 0;
  return {
    update(text, counts) {
      const now = performance.now();
      const isNew = text !== step;
      if (isNew) [step, stepStarted] = [text, now];
      if (mode === 'none' || now - started < quietMs) return;
      if (mode === 'log' && isNew) stream.write(`… ${text}\n`);
      if (mode === 'log' || (now - drawn < 80 && !isNew)) return;
      drawn = now;
      stream.write(`\r\u001b[2K${cut(describe(text, now - stepStarted, counts), width - 1)}`);
    },
    clear() {
      if (mode === 'line' && drawn > 0) stream.write('\r\u001b[2K');
      drawn = 0;
    },
  };
}

function describe(step: string, ms: number, counts: { done: number; total: number } | undefined): string {
  if (counts === undefined) return `… ${step} · ${seconds(ms)}`;
  const { done, total } = counts;
  const left = done > 0 && ms > 2000 ? ` · about ${seconds((ms / done) * (total - done))} left` : '';
  return `… ${step} · ${done}/${total}${left}`;
}

function seconds(ms: number): string {
  return `${Math.ceil(ms / 1000)} s`;
}
