import type { Screen } from './screen.ts';
import { truncateText } from './text-width.ts';

/** What is running now. */
export interface Progress {
  readonly step: string;
  /** If known, the remaining time is shown. */
  readonly counts?: ProgressCounts | undefined;
  /** What is waited for: the time left is shown, at once. */
  readonly until?: Date | undefined;
  /** More lines, shown only in a terminal. */
  readonly details?: readonly string[] | undefined;
}

interface ProgressCounts {
  readonly done: number;
  readonly total: number;
}

export interface ProgressLine {
  update(step: string, counts?: ProgressCounts): void;
  show(progress: Progress): void;
  /** Erases the line so that something else can be printed. */
  clear(): void;
}

const firstDrawMs = 1000;

/**
 * Shows progress on `stream`; without a stream nothing. The first second shows nothing, because
 * quick commands need no progress. After that a terminal gets lines that are redrawn, anything else
 * one line per step.
 */
export function openProgressLine(
  stream: NodeJS.WritableStream | undefined,
  { live, width = 80 }: Screen,
): ProgressLine {
  let current: Progress = { step: '' };
  let drawn = '';
  let [startedAt, stepStartedAt] = [0, 0];
  let timer: NodeJS.Timeout | undefined;
  const draw = () => {
    const now = performance.now();
    if (now - startedAt < firstDrawMs && current.until === undefined) return;
    const stepMs = now - stepStartedAt;
    const text = live ? liveText(current, stepMs, width) : `… ${current.step}\n`;
    if (text === drawn) return;
    stream?.write(live ? eraseText(drawn) + text : text);
    drawn = text;
  };
  const show = (next: Progress) => {
    const now = performance.now();
    if (timer === undefined) startedAt = now;
    timer ??= setInterval(draw, 100).unref();
    if (next.step !== current.step) stepStartedAt = now;
    current = next;
  };
  return {
    show,
    update: (step, counts) => show({ step, counts }),
    clear() {
      clearInterval(timer);
      timer = undefined;
      if (live && drawn !== '') stream?.write(eraseText(drawn));
      drawn = '';
    },
  };
}

function liveText(
  { step, counts, until, details = [] }: Progress,
  ms: number,
  width: number,
): string {
  const remaining = counts === undefined ? '' : remainingText(counts, ms);
  const time = until === undefined ? formatSeconds(ms) : `${timeLeft(until)} left`;
  return [`… ${step}${remaining} · ${time}`, ...details]
    .map((line) => truncateText(line, width - 1))
    .join('\n');
}

/** Escape codes that move the cursor to the start of the drawn lines and clear everything below. */
function eraseText(drawn: string): string {
  if (drawn === '') return '\r\u001b[2K';
  const lines = drawn.split('\n').length - 1;
  return `\r${lines > 0 ? `\u001b[${lines}A` : ''}\u001b[J`;
}

function remainingText({ done, total }: ProgressCounts, ms: number): string {
  const estimate =
    done > 0 && ms > 2000 ? ` · about ${formatSeconds((ms / done) * (total - done))} left` : '';
  return ` · ${done}/${total}${estimate}`;
}

/** `2:05` */
function timeLeft(until: Date): string {
  const seconds = Math.max(0, Math.ceil((until.getTime() - Date.now()) / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

function formatSeconds(ms: number): string {
  return `${Math.ceil(ms / 1000)} s`;
}
