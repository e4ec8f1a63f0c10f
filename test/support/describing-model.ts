import { z } from 'zod';
import { give, type ModelCall, say, type Script } from './model-script.ts';

const picture = z.looseObject({ table: z.string(), describe: z.array(z.string()) });
export type TablePicture = z.infer<typeof picture>;

/** The tables that a request asks to describe, in order; empty for any other request. */
export function tablesAsked({ messages }: ModelCall): TablePicture[] {
  const text = messages.map((message) => message.text).join('\n');
  const blocks = text.matchAll(/<untrusted-\w+ source="warehouse">\n([^]*?)\n<\/untrusted-/g);
  return [...blocks].flatMap(([, json = '']) => picture.safeParse(JSON.parse(json)).data ?? []);
}

/** The table that a request asks to describe alone. */
export function tableAsked(call: ModelCall): TablePicture | undefined {
  const [first, ...others] = tablesAsked(call);
  return others.length === 0 ? first : undefined;
}

export interface TableText {
  readonly description: unknown;
  readonly columns: unknown;
}

/** An answer with what `write` says of each table, in the form that the request asks for. */
export function describeEach(call: ModelCall, write: (table: TablePicture) => TableText) {
  const asked = tablesAsked(call);
  const [first] = asked;
  if (first === undefined) return say('ok');
  if (asked.length === 1) return give(write(first));
  const answered = asked.map((table, index) => ({
    number: index + 1,
    table: table.table,
    ...write(table),
  }));
  return give({ tables: answered });
}

export const describedTable = ({ table, describe }: TablePicture) => ({
  description: `One row is one of ${table}.`,
  columns: describe.map((name) => ({ name, description: `The ${name} of it.` })),
});

/** A model that describes every table, the same way each time. */
export const describing: Script = (call) =>
  call.objectTaken ? say('Done.') : describeEach(call, describedTable);
