import { z } from 'zod';
import { give, type ModelCall, say, type Script } from './model-script.ts';

const picture = z.object({ table: z.string(), describe: z.array(z.string()) });

/** The table that a request asks to describe; undefined for any other request. */
export function tableAsked({ messages }: ModelCall): z.infer<typeof picture> | undefined {
  const text = messages.map((message) => message.text).join('\n');
  const [, json] = /<untrusted-\w+ source="warehouse">\n([^]*?)\n<\/untrusted-/.exec(text) ?? [];
  return json === undefined ? undefined : picture.safeParse(JSON.parse(json)).data;
}

/** A model that describes every table, the same way each time. */
export const describing: Script = (call) => {
  if (call.objectTaken) return say('Done.');
  const asked = tableAsked(call);
  if (asked === undefined) return say('ok');
  const columns = asked.describe.map((name) => ({ name, description: `The ${name} of it.` }));
  return give({ description: `One row is one of ${asked.table}.`, columns });
};
