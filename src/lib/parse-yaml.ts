import { load, YAMLException } from 'js-yaml';
import type { z } from 'zod';
import { locateFindings } from './diagnostic.ts';
import { UserError } from './error.ts';
import { checkSchema, problemText } from './schema-check.ts';

interface YamlText {
  /** As people know it. */
  readonly file: string;
  readonly text: string;
  /** Code and next step of the error. */
  readonly code: string;
  readonly hint: string;
}

/** The text as the schema has it; what is wrong is an error with file, line, column, and the nearest valid name. */
export async function parseYaml<T>(schema: z.ZodType<T>, yaml: YamlText): Promise<T> {
  const { data, problems } = checkSchema(schema, loadYaml(yaml));
  if (problems === undefined) return data;
  const findings = problems.map((problem) => {
    return {
      file: yaml.file,
      severity: 'error',
      hint: undefined,
      ...problem,
      message: problemText(problem),
    } as const;
  });
  throw yamlError(yaml, await locateFindings(yaml.text, findings));
}

function loadYaml(yaml: YamlText): unknown {
  try {
    return load(yaml.text);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    if (yaml.text.trim() === '')
      throw yamlError(yaml, [{ line: 1, column: 1, message: `${yaml.file} is empty` }]);
    // Without a mark it is about a second document.
    const { line, column } = error.mark ?? {
      line: yaml.text.split('\n').lastIndexOf('---'),
      column: 0,
    };
    throw yamlError(yaml, [
      {
        line: Math.max(line, 0) + 1,
        column: column + 1,
        message: `this is not YAML: ${error.reason}`,
      },
    ]);
  }
}

function yamlError(
  { file, code, hint }: YamlText,
  places: readonly { line: number; column: number; message: string }[],
): UserError {
  const problems = places.map(({ line, column, message }) => ({ file, line, column, message }));
  const lines = problems.map(
    ({ line, column, message }) => `${file}:${line}:${column}: ${message}`,
  );
  return new UserError(code, lines.join('\n'), { hint, exitCode: 2, details: { problems } });
}
