import { describing } from './describing-model.ts';
import { fail, reply, say, use, type Block, type ModelCall, type Script } from './model-script.ts';

/** What the tools of a loop listed in the last turn; undefined where they listed nothing. */
function listed(call: ModelCall, label: string): unknown {
  const found = call.results.flatMap(({ text }) => {
    const [, json] =
      new RegExp(`<untrusted-\\w+ source="${label}">\\n([^]*?)\\n</untrusted-`).exec(text) ?? [];
    return json === undefined ? [] : [JSON.parse(json) as unknown];
  });
  return found[0];
}

export interface ListedCandidate {
  readonly candidate: string;
  readonly resembles: readonly { readonly subject: string }[];
}
export interface ListedConflict {
  readonly subject: string;
  readonly kind: string;
  readonly versions: readonly { readonly id: string; readonly says: unknown }[];
}

/** The statement that a request asks to mend; undefined for any other request. */
export function statementToMend({
  system,
  messages,
}: ModelCall): { readonly body: unknown; readonly fault: string } | undefined {
  if (!system.includes('You mend one statement')) return undefined;
  const [, json] =
    /<untrusted-\w+ source="statement">\n([^]*?)\n<\/untrusted-/.exec(
      messages.map(({ text }) => text).join('\n'),
    ) ?? [];
  return json === undefined ? undefined : (JSON.parse(json) as { body: unknown; fault: string });
}

interface Decide {
  readonly candidate: (candidate: ListedCandidate) => Block;
  readonly conflict: (conflict: ListedConflict) => readonly Block[];
}

export const isCurating = ({ system }: ModelCall): boolean => system.includes('You keep the wiki');
export const isReconciling = ({ system }: ModelCall): boolean =>
  system.includes('You find out whether sources');

/** A model that lists what waits for it, decides all of it in one turn, and looks once more. */
export function rulingModel({ candidate, conflict }: Decide, others: Script = describing): Script {
  return (call) => {
    if (!isCurating(call) && !isReconciling(call)) return others(call);
    const list = isCurating(call) ? 'list_candidates' : 'list_contested';
    const page = listed(call, isCurating(call) ? 'candidates' : 'contested') as
      | { candidates: ListedCandidate[] }
      | ListedConflict[];
    if (page !== undefined)
      return reply(Array.isArray(page) ? page.flatMap(conflict) : page.candidates.map(candidate));
    return call.results.length > 0 &&
      call.results.every(({ text }) => text.includes('You are done'))
      ? say('Done.')
      : use(list, {});
  };
}

/** The script, for a model with room for so many entries at once, and never for `endless`. */
export function withRoomFor(most: number, endless: string, script: Script): Script {
  return (call) => {
    const said = call.messages.map(({ text }) => text).join('\n');
    const waiting = Number(/(\d+) entr(?:y|ies) waits? for a decision/.exec(said)?.[1] ?? 0);
    const isEndless = call.results.some(({ text }) => text.includes(endless));
    return waiting > most || isEndless ? fail('too-long') : script(call);
  };
}

export const place = (candidate: string, page: string): Block => ({
  tool: 'place_on_page',
  input: { candidate, page },
});
export const merge = (candidate: string, into: string): Block => ({
  tool: 'merge_candidates',
  input: { candidate, into },
});
export const differ = ({ subject, kind }: ListedConflict): Block => ({
  tool: 'mark_contradiction',
  input: { subject, kind, why: 'They count different orders.' },
});
export const same = ({ subject, kind, versions }: ListedConflict): Block => {
  return {
    tool: 'mark_same',
    input: {
      subject,
      kind,
      versions: versions.map(({ id }) => id),
      why: 'The same in other words.',
    },
  };
};
