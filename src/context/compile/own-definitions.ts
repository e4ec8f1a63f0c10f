import { bodySchemas, claimKinds, type Claim } from '../claims/claim.ts';
import { noneOfThem, pinsPath, type Pin } from '../claims/pins.ts';
import { parseSubject, parseWikiSubject } from '../claims/subject.ts';

/**
 * What people wrote in a pin, in place of or besides what sources say: accepted metrics and joins,
 * and definitions of their own. As claims of the person who made the pin; what does not fit its
 * kind is none. Of several about one subject and kind the last counts: the others hold again once
 * it is taken back.
 */
export function ownDefinitions(pins: readonly Pin[]): readonly Claim[] {
  const newest = new Map(pins.map((pin) => [`${pin.subject} ${pin.kind}`, pin]));
  return [...newest.values()].flatMap(ownDefinition);
}

function ownDefinition({ subject, kind: name, choose, says, by }: Pin): Claim[] {
  const kind = claimKinds.find((known) => known === name);
  const isWiki = parseWikiSubject(subject) !== undefined;
  const connection = isWiki ? 'person' : parseSubject(subject)?.connection;
  if (kind === undefined || connection === undefined || choose === noneOfThem) return [];
  if (says === undefined || !bodySchemas[kind].safeParse(says).success) return [];
  const evidence = {
    connection,
    origin: 'person',
    extractor: 'pin@1',
    item: pinsPath,
    ...(by !== undefined && { owner: by }),
    confidence: 1,
  } as const;
  return [{ subject, kind, body: says, evidence: [evidence] }];
}
