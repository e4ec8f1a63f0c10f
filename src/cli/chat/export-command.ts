import { UserError } from '../../lib/error.ts';
import { formatCount } from '../../lib/format-count.ts';
import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import { writeNewFile } from '../export/new-file.ts';
import {
  exportFormats,
  type ExportFormat,
  formatOfFile,
  renderExport,
} from '../export/render-export.ts';
import { evidenceTable } from './evidence-text.ts';
import { splitWords } from './split-words.ts';

interface ExportRequest {
  /** Empty for the last query. */
  readonly id: string;
  readonly path: string | undefined;
  readonly format: ExportFormat | undefined;
  readonly escapesFormulas: boolean;
  readonly overwrites: boolean;
}

/** `q1 rows.xlsx --overwrite` */
export function parseExport(argument: string): ExportRequest {
  const words = splitWords(argument);
  const flagAt = words.indexOf('--format');
  const named = flagAt < 0 ? undefined : words[flagAt + 1];
  const format = exportFormats.find((known) => known === named);
  if (flagAt >= 0 && format === undefined) throw usageOf(`--format ${named ?? ''}`);
  const flags = words.filter((word) => word.startsWith('--') && word !== '--format');
  const unknown = flags.find((flag) => !['--overwrite', '--escape-formulas'].includes(flag));
  if (unknown !== undefined) throw usageOf(unknown);
  const rest = words.filter(
    (word, index) => !word.startsWith('--') && (flagAt < 0 || index !== flagAt + 1),
  );
  const [first = ''] = rest;
  const id = /^\[?q\d+\]?$/.test(first) ? first : '';
  const [path, tooMuch] = id === '' ? rest : rest.slice(1);
  if (tooMuch !== undefined) throw usageOf(tooMuch);
  return {
    id,
    path,
    format,
    escapesFormulas: flags.includes('--escape-formulas'),
    overwrites: flags.includes('--overwrite'),
  };
}

function usageOf(word: string): UserError {
  return new UserError('usage', `/export does not know ${word}.`, {
    hint: `/export [q1] [file] [--format ${exportFormats.join('|')}] [--escape-formulas] [--overwrite]`,
    exitCode: 2,
  });
}

/** Writes the rows of a query. Returns what was written, and what is not in the file. */
export async function exportEvidence(
  evidence: QueryEvidence,
  { path, format: named, escapesFormulas, overwrites }: ExportRequest,
  cwd: string,
): Promise<string> {
  const file = path ?? `${evidence.id}.${named ?? 'csv'}`;
  const format = named ?? formatOfFile(file);
  const content = await renderExport(evidenceTable(evidence), { format, escapesFormulas });
  const overwriteHint = `/export ${evidence.id} ${file} --overwrite`;
  const written = await writeNewFile(file, content, { cwd, overwrites, overwriteHint });
  const count = formatCount(evidence.rows.length, 'row');
  const more = evidence.truncated
    ? `. The query has more: only so many were fetched (query.max_rows in ktx.yaml, limits.max_rows of the agent)`
    : '';
  return `wrote ${count} of ${evidence.id} to ${written}${more}`;
}
