import type { Screen } from '../terminal/screen.ts';
import { escapeControls, padText, textWidth, truncateText } from '../terminal/text-width.ts';
import type { Chart } from './choose-chart.ts';
import { axisNote, chartNumber, chartRange } from './chart-scale.ts';

// Own code: chart packages for terminals neither know the width of Chinese text nor draw in ASCII.

const defaultWidth = 80;
const lineHeight = 8;
const heightOfSeveral = 4;

/** A chart in characters: blocks and dots, or ASCII where the terminal has no Unicode. */
export function renderTextChart(chart: Chart, screen: Screen): string {
  const note = chart.kind === 'bars' ? '' : axisNote(rangeOf(chart));
  const title = `${screen.style('bold', escapeControls(chart.title))}${note}`;
  const lines = chart.kind === 'bars' ? barLines(chart, screen) : lineLines(chart, screen);
  return [title, ...lines].join('\n');
}

function barLines({ labels, series }: Chart, { width, unicode }: Screen): readonly string[] {
  const values = series[0]?.values ?? [];
  const total = width ?? defaultWidth;
  const names = labels.map((label) => truncateText(escapeControls(label), Math.floor(total / 3)));
  const nameWidth = Math.max(...names.map(textWidth));
  const numbers = values.map(chartNumber);
  const numberWidth = Math.max(...numbers.map(({ length }) => length));
  const room = Math.max(total - nameWidth - numberWidth - 4, 4);
  const low = Math.min(0, ...values.map((value) => value ?? 0));
  const high = Math.max(0, ...values.map((value) => value ?? 0));
  const scale = room / (high - low || 1);
  const zero = Math.round(-low * scale);
  return names.map((name, index) => {
    const value = values[index] ?? 0;
    const length = Math.abs(value) * scale;
    const bar =
      value < 0
        ? ' '.repeat(Math.max(0, zero - Math.round(length))) + barText(Math.round(length), unicode)
        : ' '.repeat(zero) + barText(length, unicode);
    const number = (numbers[index] ?? '').padStart(numberWidth);
    return `${padText(name, nameWidth, 'left')}  ${number}  ${bar}`.trimEnd();
  });
}

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

function barText(length: number, unicode: boolean): string {
  if (!unicode) return '#'.repeat(Math.max(Math.round(length), length > 0 ? 1 : 0));
  const parts = Math.max(Math.round(length * 8), length > 0 ? 1 : 0);
  return '█'.repeat(Math.floor(parts / 8)) + (eighths[parts % 8] ?? '');
}

function rangeOf({ series }: Pick<Chart, 'series'>) {
  return chartRange(series.flatMap(({ values }) => values));
}

/** A plot for each series, all with the same scale. */
function lineLines({ labels, series }: Chart, screen: Screen): readonly string[] {
  const range = rangeOf({ series });
  const height = series.length > 1 ? heightOfSeveral : lineHeight;
  const axisWidth = Math.max(...[range.high, range.low].map((value) => chartNumber(value).length));
  const room = (screen.width ?? defaultWidth) - axisWidth - 2;
  const plotWidth = Math.max(4, Math.min(room, Math.max(16, (labels.length - 1) * 6 + 1)));
  const axis = screen.unicode ? '┤' : '|';
  const plots = series.flatMap(({ name, values }) => {
    const cells = plotLine(values, { width: plotWidth, height, ...range, unicode: screen.unicode });
    const rows = cells.map((row, index) => {
      const value = index === 0 ? range.high : index === height - 1 ? range.low : undefined;
      return `${chartNumber(value).padStart(axisWidth)} ${axis}${row}`.trimEnd();
    });
    return name === '' ? rows : [escapeControls(name), ...rows];
  });
  const periods = periodLine(labels, { width: plotWidth, room });
  return [...plots, ' '.repeat(axisWidth + 2) + periods];
}

/** The first and the last period under the plot. */
function periodLine(
  labels: readonly string[],
  { width, room }: { readonly width: number; readonly room: number },
): string {
  const [first = '', last = ''] = [labels[0], labels.at(-1)].map((label) =>
    escapeControls(label ?? '').replace(/[T ]00:00(?::00)?(?:\.0+)?(?:Z|[+-]00(?::?00)?)?$/, ''),
  );
  const gap = width - textWidth(first) - textWidth(last);
  return gap > 0
    ? `${first}${' '.repeat(gap)}${last}`
    : truncateText(`${first} - ${last}`, Math.max(room, 1));
}

interface PlotSize {
  readonly width: number;
  readonly height: number;
  readonly low: number;
  readonly high: number;
  readonly unicode: boolean;
}

/** Rows of cells with the values as a line; a gap where a value is missing. */
function plotLine(
  values: readonly (number | undefined)[],
  { width, height, low, high, unicode }: PlotSize,
): readonly string[] {
  // A braille character has two by four dots.
  const [across, down] = unicode ? [2, 4] : [1, 1];
  const dots = Array.from({ length: height }, () => Array.from({ length: width }, () => 0));
  const setDot = (x: number, y: number): void => {
    const row = dots[Math.floor(y / down)];
    const at = Math.floor(x / across);
    if (row?.[at] !== undefined) row[at] |= dotBits[(y % down) * 2 + (x % across)] ?? 1;
  };
  const last = { x: width * across - 1, y: height * down - 1 };
  const pointOf = (value: number, index: number) => ({
    x: Math.round((index * last.x) / Math.max(1, values.length - 1)),
    y: Math.round((1 - (value - low) / (high - low || 1)) * last.y),
  });
  values.forEach((value, index) => {
    if (value === undefined) return;
    const to = pointOf(value, index);
    const before = values[index - 1];
    const from = before === undefined ? to : pointOf(before, index - 1);
    const steps = Math.max(Math.abs(to.x - from.x), Math.abs(to.y - from.y), 1);
    for (let step = 0; step <= steps; step += 1)
      setDot(
        Math.round(from.x + ((to.x - from.x) * step) / steps),
        Math.round(from.y + ((to.y - from.y) * step) / steps),
      );
  });
  const cellText = (bits: number): string =>
    bits === 0 ? ' ' : unicode ? String.fromCodePoint(0x2800 + bits) : '*';
  return dots.map((row) => row.map(cellText).join(''));
}

/** The bit of each dot of a braille character, row by row. */
const dotBits = [0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80];
