import { Document, isSeq, parseDocument } from 'yaml';
import { UserError } from '../../lib/error.ts';
import { isRecord } from '../../lib/json.ts';

/** A question set to add cases to. Everything else in the file stays as it is, comments too. */
export interface QuestionSetEditor {
  /** Ids of the cases, the added ones included. */
  readonly ids: ReadonlySet<unknown>;
  addCase(newCase: { readonly id: string; readonly [key: string]: unknown }): void;
  toText(): string;
}

interface EditOptions {
  /** As errors show it. */
  readonly file: string;
  /** Keys of a new file besides `version` and `cases`. */
  readonly header: { readonly agent?: string; readonly connection: string | undefined };
  /** The command that writes to another file. */
  readonly otherFile: string;
}

/**
 * `text` is that of the file; undefined if there is no file. Throws `eval_invalid` if it has no
 * list of cases.
 */
export function editQuestionSet(
  text: string | undefined,
  { file, header, otherFile }: EditOptions,
): QuestionSetEditor {
  const document =
    text === undefined ? new Document({ version: 1, ...header, cases: [] }) : parseDocument(text);
  const cases = document.get('cases');
  if (document.errors.length > 0 || !isSeq(cases))
    throw new UserError('eval_invalid', `${file} is not a valid question set.`, {
      hint: `correct the file, or choose another: ${otherFile}`,
      exitCode: 2,
    });
  cases.flow = false;
  const entries: readonly unknown[] = cases.toJSON();
  const ids = new Set(entries.map((entry) => (isRecord(entry) ? entry['id'] : undefined)));
  return {
    ids,
    addCase(newCase) {
      ids.add(newCase.id);
      cases.add(document.createNode(newCase));
    },
    toText: () => document.toString({ lineWidth: 0 }),
  };
}
