import type { reportSections } from '../../../eval/bench/bench-report.ts';
import { escapeControls } from '../../terminal/text-width.ts';

/** Of a long table, the page has the rest. */
const mostRows = 20;

/** The sections of the page, as text with aligned columns. */
export function renderBenchText(sections: ReturnType<typeof reportSections>): string {
  return sections
    .map(({ title, rows }) => {
      const shown = rows.slice(0, mostRows).map((row) => row.map(escapeControls));
      const widths = (shown[0] ?? []).map((_, column) =>
        Math.max(...shown.map((row) => row[column]?.length ?? 0)),
      );
      const lines = shown.map((row) =>
        row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd(),
      );
      const more = rows.length > mostRows ? [`and ${rows.length - mostRows} more`] : [];
      return [title, ...lines, ...more].join('\n');
    })
    .join('\n\n');
}
