import { z } from 'zod';
import { describing } from './describing-model.ts';
import { differ, place, rulingModel } from './ruling-model.ts';
import { type Block, give, type ModelCall, reply, say, type Script } from './model-script.ts';

const itemsSchema = z.array(
  z.object({
    item: z.string(),
    passages: z.array(z.object({ text: z.string(), location: z.string() })),
  }),
);

/**
 * What a request of the reading stages is: which one, its items, and the turn that it asks for,
 * from 1.
 */
export interface ReadingAsked {
  readonly stage: 'triage' | 'light' | 'extract';
  readonly items: z.infer<typeof itemsSchema>;
  readonly turn: number;
}

const stages = {
  'You sort pages': 'triage',
  'You collect from': 'light',
  'You read what code could not': 'extract',
} as const;

/** Undefined for any other request. */
export function readingAsked({ system, messages }: ModelCall): ReadingAsked | undefined {
  const [, stage] = Object.entries(stages).find(([start]) => system.includes(start)) ?? [];
  const text = messages.find((message) => message.text.includes('"passages"'))?.text ?? '';
  const [, json] = /<untrusted-\w+ source="[^"]*">\n([^]*?)\n<\/untrusted-/.exec(text) ?? [];
  if (stage === undefined || json === undefined) return undefined;
  return {
    stage,
    items: itemsSchema.parse(JSON.parse(json)),
    turn: messages.filter(({ role }) => role === 'assistant').length + 1,
  };
}

interface Proposed {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/**
 * A proposal for each sentence of a passage that has one of these forms, the same way whoever asks.
 */
export function proposalsIn(text: string): Proposed[] {
  const sentences = text
    .replaceAll(/\s+/g, ' ')
    .replace(/^[^.]*?: /, '')
    .split(/(?<=\.) /);
  return sentences.flatMap((quote): Proposed[] => {
    const [, title, definition] = /^(?:An? |The )?(.+?) means (.+\.)$/i.exec(quote) ?? [];
    if (title !== undefined) return [{ tool: 'propose_term', input: { quote, title, definition } }];
    const [, name, of, dataset] = /^The (\w+) is the sum of (\w+) in (\w+)\.$/.exec(quote) ?? [];
    if (name !== undefined)
      return [{ tool: 'propose_metric', input: { quote, dataset, name, agg: 'sum', of } }];
    const [, rule = ''] = /^(Always .+\.)$/.exec(quote) ?? [];
    return rule === ''
      ? []
      : [
          {
            tool: 'propose_rule',
            input: { quote, title: rule.split(' ').slice(1, 5).join(' '), rule },
          },
        ];
  });
}

const readingAlone: Script = (call) => {
  const asked = readingAsked(call);
  if (asked === undefined) return describing(call);
  const text = asked.items
    .flatMap(({ passages }) => passages.map((passage) => passage.text))
    .join('\n');
  if (asked.stage === 'triage')
    return say(/nothing/.test(text) ? 'skip' : /sum of|computed/.test(text) ? 'full' : 'light');
  if (asked.stage === 'light') {
    if (call.objectTaken) return say('Done.');
    const found = proposalsIn(text);
    const inputs = (tool: string) =>
      found.filter((one) => one.tool === tool).map(({ input }) => input);
    return give({ terms: inputs('propose_term'), rules: inputs('propose_rule') });
  }
  if (asked.turn > 1) return say('Everything is read.');
  const blocks = asked.items.flatMap(({ item, passages }): Block[] => {
    const found = passages.flatMap((passage) => proposalsIn(passage.text));
    const nothing = {
      tool: 'report_unmapped',
      input: { item, reason: 'nothing_to_claim', what: 'It says nothing about data.' },
    };
    return found.length === 0
      ? [nothing]
      : found.map(({ tool, input }) => ({ tool, input: { item, ...input } }));
  });
  return reply(blocks);
};

/**
 * A model that describes tables, reads what is in the forms of `proposalsIn` (pages that compute in
 * full, those with `nothing` not at all), leaves every term where it is, and finds every conflict a
 * real one.
 */
export const reading: Script = rulingModel(
  {
    candidate: ({ candidate }) =>
      place(candidate, candidate.startsWith('rule:') ? 'rules' : 'glossary'),
    conflict: (conflict) => [differ(conflict)],
  },
  readingAlone,
);
