import { z } from 'zod';
import { globSchema, matchesGlob } from '../../../../lib/patterns/glob.ts';

const oneCharacter = z.string().length(1);

/** How files are read where their content does not tell, or tells it wrong. */
const fileOptionsSchema = z.strictObject({
  encoding: z
    .string()
    .regex(/^[A-Za-z0-9_:-]+$/, 'the name of an encoding, such as windows-1252')
    .optional()
    .describe('Encoding of text files, such as latin1, windows-1252 or utf-16le.'),
  delimiter: z.string().min(1).max(4).optional().describe('What separates the columns of a CSV.'),
  quote: oneCharacter.optional().describe('The character around values of a CSV.'),
  header: z.boolean().optional().describe('Whether the first line of a CSV has the names.'),
  skip_lines: z
    .int()
    .min(0)
    .optional()
    .describe('Lines of a CSV, or rows of a sheet, that stand before the table.'),
  decimal: z.enum(['.', ',']).optional().describe('The decimal separator of a CSV.'),
  thousands: oneCharacter.optional().describe('The thousands separator of a CSV.'),
  date_format: z
    .string()
    .min(1)
    .optional()
    .describe('Format of dates in a CSV or JSON: "%d/%m/%Y".'),
  timestamp_format: z
    .string()
    .min(1)
    .optional()
    .describe('Format of times in a CSV or JSON: "%d/%m/%Y %H:%M".'),
  null_texts: z.array(z.string()).min(1).optional().describe('Texts of a CSV that mean NULL.'),
  types: z
    .record(
      z.string().min(1),
      z.string().regex(/^[A-Za-z][A-Za-z0-9_]*(?: ?\(\d+(?:, ?\d+)?\))?$/, 'a type of DuckDB'),
    )
    .optional()
    .describe('DuckDB types of columns of a CSV: {zip: VARCHAR}.'),
  sheet: z.string().min(1).optional().describe('The only sheet of a workbook to read.'),
});
export type FileOptions = z.infer<typeof fileOptionsSchema>;

export const filesConfigSchema = z
  .record(globSchema, fileOptionsSchema)
  .describe(
    'How to read files, by name or glob relative to `path`. The first pattern that matches counts.',
  );
export type FilesConfig = z.infer<typeof filesConfigSchema>;

/** The options of a file; `path` has `/` and starts at the folder of the connection. */
export function optionsOfFile(path: string, files: FilesConfig = {}): FileOptions {
  const name = path.split('/').at(-1) ?? path;
  const found = Object.entries(files).find(
    ([glob]) => matchesGlob(path, glob) || matchesGlob(name, glob),
  );
  return found?.[1] ?? {};
}
