import type { Screen } from './output.ts';
import { cut } from './text-width.ts';

/** What runs now. */
export interface Progress {
  readonly step: string;
  /** Where they are known, they add the time left. */
  readonly counts?: Counts | undefined;
  /** Further lines, for a terminal. */
  readonly below?: readonly string[] | undefined;
}

export interface ProgressLine {
  update(step: string, counts?: Counts): void;
  show(progress: Progress): void;
  /** Removes it, so that something else may be printed. */
  clear(): void;
}

interface Counts {
  readonly done: number;
  readonly total: number;
}

/**
 * Nothing is shown in the first second: what is quick needs no progress. From then on a terminal has lines that are drawn
 * anew, anything else a line for each step. Silent without a stream.
 */
export function progressLine(
  stream: NodeJS.WritableStream | undefined,
  { live, width = 80 }: Screen,
): ProgressLine {
  let now: Progress = { step: '' };
  let shown = '';
  let [started, since] = [0, 0];
  let timer: NodeJS.Timeout | undefined;
  /** Back to the first of the lines that stand, and nothing below. */
  const back = () => {
    const lines = shown.split('\n').length - 1;
    return `\r${lines > 0 ? `\u001b[${lines}A` : ''}\u001b[J`;
  };
  const draw = () => {
    const time = performance.now();
    if (time - started < 1000) return;
    const { step, counts, below = [] } = now;
    const left = counts === undefined ? '' : remaining(counts, time - since);
    const lines = live
      ? [`… ${step}${left} · ${seconds(time - since)}`, ...below].map((line) =>
          cut(line, width - 1),
        )
      : [`… ${step}\n`];
    const text = lines.join('\n');
    if (text === shown) return;
    stream?.write(live ? `${shown === '' ? '\r\u001b[2K' : back()}${text}` : text);
    shown = text;
  };
  const show = (next: Progress) => {
    const time = performance.now();
    if (timer === undefined) started = time;
    timer ??= setInterval(draw, 100).unref();
    if (next.step !== now.step) since = time;
    now = next;
  };
  return {
    show,
    update: (step, counts) => show({ step, counts }),
    clear() {
      clearInterval(timer);
      timer = undefined;
      if (live && shown !== '') stream?.write(back());
      shown = '';
    },
  };
}

function remaining({ done, total }: Counts, ms: number): string {
  const left =
    done > 0 && ms > 2000 ? ` · about ${seconds((ms / done) * (total - done))} left` : '';
  return ` · ${done}/${total}${left}`;
}

function seconds(ms: number): string {
  return `${Math.ceil(ms / 1000)} s`;
}
