import { Document, isSeq, parseDocument } from 'yaml';
import { UserError } from '../../lib/error.ts';
import { isRecord } from '../../lib/json.ts';
import type { CaseProposal } from './propose-cases.ts';

interface AddedCases {
  /** The new text of the question set. */
  readonly text: string;
  /** Ids of the cases that were added. */
  readonly ids: readonly string[];
}

/** Adds the cases whose ids the question set lacks. Everything else in the file stays as it is, comments too. */
export function addCases(
  before: string | undefined,
  proposals: readonly CaseProposal[],
  { file, connection }: { readonly file: string; readonly connection: string },
): AddedCases {
  const document =
    before === undefined
      ? new Document({ version: 1, connection, cases: [] })
      : parseDocument(before);
  const cases = document.get('cases');
  if (document.errors.length > 0 || !isSeq(cases))
    throw new UserError('eval_invalid', `${file} is not a valid question set.`, {
      hint: 'correct the file, or choose another: ktx eval generate <name>',
      exitCode: 2,
    });
  const taken = new Set<unknown>(
    cases.toJSON().map((entry: unknown) => (isRecord(entry) ? entry['id'] : undefined)),
  );
  const added: CaseProposal[] = [];
  cases.flow = false;
  for (const proposal of proposals) {
    if (taken.has(proposal.id)) continue;
    taken.add(proposal.id);
    added.push(proposal);
    cases.add(document.createNode(proposal));
  }
  return { text: document.toString({ lineWidth: 0 }), ids: added.map(({ id }) => id) };
}
