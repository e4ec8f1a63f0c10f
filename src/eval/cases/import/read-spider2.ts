import { z } from 'zod';
import { formatCount } from '../../../lib/format-count.ts';
import { parseJson } from '../../../lib/json.ts';
import {
  toId,
  type ImportedQuestion,
  type LeftOutQuestion,
  type ReadQuestions,
} from './imported-question.ts';

const text = z.string().trim().min(1);

/** A line of `spider2-lite.jsonl`. Its golden SQL is in a file of its own, named by its id. */
const spider2Schema = z.looseObject({
  instance_id: text.max(200),
  db: text,
  question: text,
  external_knowledge: z.string().nullish(),
});

/** Reads files beside the questions; undefined if there is none. */
interface Spider2Files {
  readonly goldSql: (id: string) => Promise<string | undefined>;
  readonly document: (name: string) => Promise<string | undefined>;
}

/** Of a name that leads nowhere else. */
const plainName = /^[\w.-]{1,200}$/;

/** Whether the text of a file is that of Spider 2: one JSON object a line. */
export function isSpider2(lines: string): boolean {
  const [first = ''] = lines.trimStart().split('\n', 1);
  return spider2Schema.safeParse(parseJson(first)).success;
}

/**
 * The questions of Spider 2 (lite) that ask databases on this machine: their ids begin with
 * `local`. The others ask BigQuery and Snowflake, and are counted.
 */
export async function readSpider2(lines: string, files: Spider2Files): Promise<ReadQuestions> {
  const questions: ImportedQuestion[] = [];
  const left: LeftOutQuestion[] = [];
  let remote = 0;
  for (const [index, line] of lines.split('\n').entries()) {
    if (line.trim() === '') continue;
    const { data } = spider2Schema.safeParse(parseJson(line));
    if (data === undefined)
      left.push({ what: `line ${index + 1}`, why: 'no question of Spider 2' });
    else if (!data.instance_id.startsWith('local')) remote += 1;
    else {
      const read = await readQuestion(data, files);
      if ('sql' in read) questions.push(read);
      else left.push(read);
    }
  }
  if (remote > 0)
    left.push({ what: formatCount(remote, 'question'), why: 'for BigQuery or Snowflake' });
  return { questions, left };
}

async function readQuestion(
  { instance_id: name, db, question, external_knowledge: document }: z.infer<typeof spider2Schema>,
  files: Spider2Files,
): Promise<ImportedQuestion | LeftOutQuestion> {
  const leftOut = (why: string) => ({ what: name, why });
  if (!plainName.test(name)) return leftOut('its id is no name of a file');
  const sql = (await files.goldSql(name))?.trim() ?? '';
  if (sql === '') return leftOut('its golden SQL is not published');
  const known = document?.trim() ?? '';
  if (known !== '' && !plainName.test(known)) return leftOut('its document is no name of a file');
  const evidence = known === '' ? undefined : (await files.document(known))?.trim();
  if (known !== '' && (evidence ?? '') === '') return leftOut(`the document ${known} is missing`);
  const tags = ['spider2', ...(evidence === undefined ? [] : ['external-knowledge'])];
  return { id: toId(name), question, sql, database: db, evidence, tags };
}
