import { UserError } from '../../lib/error.ts';
import type { Dialect } from '../../sql/dialect.ts';
import type { Dataset } from '../model/dataset.ts';
import type { ImportedModel, Misfit } from './imported-model.ts';
import { readLookml } from './lookml/read.ts';
import { readMetricflow } from './metricflow/read.ts';
import { writeMetricflow } from './metricflow/write.ts';
import { readOssie } from './ossie/read.ts';
import { writeOssie } from './ossie/write.ts';

export interface ImportFile {
  /** The path as the user gave it. */
  readonly file: string;
  readonly text: string;
}

type ModelWriter = (
  datasets: readonly Dataset[],
  options: { readonly dialect: Dialect; readonly name: string },
) => { readonly text: string; readonly misfits: readonly Misfit[] };

/** The model format of another tool. `read` and `write` are pure and run inside `withAnalyzer`. */
interface ModelFormat {
  readonly name: string;
  /** True if the file looks like this format. */
  readonly recognizes: (file: ImportFile) => boolean;
  /** Reads all files together, because one may refer to another. Throws `import_invalid`. */
  readonly read: (files: readonly ImportFile[], dialect: Dialect) => ImportedModel;
  /** Undefined if ktx only reads the format. */
  readonly write?: ModelWriter;
}

const formats: readonly ModelFormat[] = [
  {
    name: 'ossie',
    recognizes: ({ text }) => /^\s*"?semantic_model"?\s*:/m.test(text),
    read: (files, dialect) => {
      const models = files.map(({ text }) => readOssie(text, dialect));
      return {
        datasets: models.flatMap(({ datasets }) => datasets),
        misfits: models.flatMap(({ misfits }) => misfits),
      };
    },
    write: writeOssie,
  },
  {
    name: 'dbt',
    recognizes: ({ text }) =>
      /^(?:semantic_models|metrics)\s*:/m.test(text) || /^\s+time_spine\s*:/m.test(text),
    read: (files, dialect) =>
      readMetricflow(
        files.map(({ text }) => text),
        dialect,
      ),
    write: writeMetricflow,
  },
  {
    name: 'lookml',
    recognizes: ({ file, text }) =>
      /\.(?:lkml|lookml)$/.test(file) || /^(?:view|explore)\s*:\s*\+?\w+\s*\{/m.test(text),
    read: (files, dialect) => readLookml(files, { dialect }),
  },
];

/** The format with this name; without a name, the first format that recognizes every file. */
export function findFormat(name: string | undefined, files: readonly ImportFile[]): ModelFormat {
  const match = formats.find((format) =>
    name === undefined ? files.every((file) => format.recognizes(file)) : format.name === name,
  );
  if (match !== undefined) return match;
  const message =
    name === undefined
      ? 'ktx does not recognize the format of these files'
      : `There is no format ${name}`;
  throw unknownFormat(
    message,
    formats.map((format) => format.name),
  );
}

/** The writer of the format with this name. */
export function findWriter(name: string): ModelWriter {
  const writable = formats.filter(({ write }) => write !== undefined);
  const write = writable.find((format) => format.name === name)?.write;
  if (write !== undefined) return write;
  throw unknownFormat(
    `ktx cannot write the format ${name}`,
    writable.map((format) => format.name),
  );
}

function unknownFormat(message: string, names: readonly string[]): UserError {
  return new UserError('unknown_format', `${message}.`, {
    hint: `--format ${names.join(', ')}`,
    exitCode: 2,
  });
}
