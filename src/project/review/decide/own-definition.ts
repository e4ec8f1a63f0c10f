import { z } from 'zod';
import {
  anyJsonSchema,
  bodySchemas,
  shortId,
  type ClaimKind,
} from '../../../context/claims/claim.ts';
import type { Pin } from '../../../context/claims/pins.ts';
import { UserError } from '../../../lib/error.ts';
import type { Json } from '../../../lib/json.ts';
import { readYaml } from '../../../lib/yaml/read-yaml.ts';
import type { Project } from '../../open/open.ts';
import { authorName } from '../author-name.ts';
import type { OpenQuestion } from './deferred.ts';
import { readWritablePins } from './writable-pins.ts';

/** What a person can write in place of all versions, each with an example. */
const writableKinds = {
  metric: 'sum(amount)',
  default_time: 'ordered_at',
  primary_key: '[id]',
  type: 'decimal',
  unit: 'EUR',
  definition: 'Revenue after refunds.',
  description: 'One row for each order.',
  rule: 'Test orders never count.',
} as const satisfies Partial<Record<ClaimKind, string>>;

interface OwnDefinitionRequest {
  readonly question: OpenQuestion;
  /** As in the files: words, or YAML. */
  readonly text: string;
  readonly why?: string | undefined;
}

/** The pin with which a person's own definition holds, until a new one appears. */
export async function createOwnDefinition(
  project: Project,
  { question, text, why }: OwnDefinitionRequest,
): Promise<Pin> {
  await readWritablePins(project);
  const { subject, kind, ids } = question;
  const says = parseDefinition(kind, text);
  const claim = { subject, kind: kind as ClaimKind, body: says };
  const choose = shortId(claim);
  return {
    subject,
    kind,
    choose,
    seen: [...new Set([...ids, choose])].sort(),
    says,
    by: await authorName(project),
    at: new Date().toISOString().slice(0, 10),
    ...(why !== undefined && { why }),
  };
}

function parseDefinition(kind: string, text: string): Json {
  const writable = Object.keys(writableKinds).find((name) => name === kind);
  if (writable === undefined)
    throw new UserError('definition_unusable', `A ${kind} is accepted or rejected, not written.`, {
      hint: 'ktx review accept, or ktx review reject',
      exitCode: 2,
    });
  const schema = bodySchemas[writable as keyof typeof writableKinds];
  const words = text.trim();
  const asWords = schema.safeParse(words);
  if (asWords.success) return words;
  const { data, error } = schema.safeParse(
    kind === 'metric' ? readMetric(words) : parseOrUndefined(words),
  );
  if (error === undefined) return anyJsonSchema.parse(data);
  const [reason = ''] = z.prettifyError(error).split('\n');
  throw new UserError('definition_unusable', `That is no ${kind}: ${reason}`, {
    hint: `for example: ${writableKinds[writable as keyof typeof writableKinds]}`,
    exitCode: 2,
  });
}

/** A mapping as in a dataset file, or only its formula. */
function readMetric(text: string): unknown {
  const read = parseOrUndefined(text);
  return typeof read === 'object' && read !== null ? read : { expr: text };
}

function parseOrUndefined(text: string): unknown {
  try {
    return readYaml(text);
  } catch {
    return undefined;
  }
}
