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
  /** As people know it. */
  readonly file: string;
  readonly text: string;
}

type Writer = (
  datasets: readonly Dataset[],
  as: { readonly dialect: Dialect; readonly name: string },
) => { readonly text: string; readonly misfits: readonly Misfit[] };

/** How another tool writes its model. Both directions are pure and run inside `withAnalyzer`. */
interface Format {
  readonly name: string;
  /** Whether the files look like it. */
  readonly recognizes: (file: ImportFile) => boolean;
  /** All files together, since one may refer to another; throws `import_invalid`. */
  readonly read: (files: readonly ImportFile[], dialect: Dialect) => ImportedModel;
  /** Absent where ktx only reads the format. */
  readonly write?: Writer;
}

const formats: readonly Format[] = [
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
    recognizes: ({ text }) => /^(?:semantic_models|metrics)\s*:/m.test(text),
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
    read: (files, dialect) =>
      readLookml(
        files.map(({ text }) => text),
        dialect,
      ),
  },
];

/** By its name, else by the looks of the files. */
export function findFormat(name: string | undefined, files: readonly ImportFile[]): Format {
  const found = formats.find((format) =>
    name === undefined ? files.every((file) => format.recognizes(file)) : format.name === name,
  );
  if (found !== undefined) return found;
  const what =
    name === undefined ? 'This looks like no format that ktx reads' : `There is no format ${name}`;
  throw unknownFormat(
    what,
    formats.map((format) => format.name),
  );
}

/** The formats that ktx writes. */
export function findWriter(name: string): Writer {
  const writers = formats.filter(({ write }) => write !== undefined);
  const write = writers.find((format) => format.name === name)?.write;
  if (write !== undefined) return write;
  throw unknownFormat(
    `ktx writes no format ${name}`,
    writers.map((format) => format.name),
  );
}

function unknownFormat(message: string, names: readonly string[]): UserError {
  return new UserError('unknown_format', `${message}.`, {
    hint: `--format ${names.join(', ')}`,
    exitCode: 2,
  });
}
