import { editQuestionSet } from './edit-question-set.ts';
import type { CaseProposal } from './propose-cases.ts';

interface AddedCases {
  /** The new text of the question set. */
  readonly text: string;
  /** Ids of the cases that were added. */
  readonly ids: readonly string[];
}

/** Adds the cases whose ids the question set lacks. */
export function addCases(
  before: string | undefined,
  proposals: readonly CaseProposal[],
  { file, connection }: { readonly file: string; readonly connection: string },
): AddedCases {
  const editor = editQuestionSet(before, {
    file,
    header: { connection },
    otherFile: 'ktx eval generate <name>',
  });
  const addedIds: string[] = [];
  for (const proposal of proposals) {
    if (editor.ids.has(proposal.id)) continue;
    editor.addCase(proposal);
    addedIds.push(proposal.id);
  }
  return { text: editor.toText(), ids: addedIds };
}
