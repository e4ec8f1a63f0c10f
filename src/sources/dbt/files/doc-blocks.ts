import { countLines } from '../../../lib/line-counter.ts';
import type { ItemPlace } from '../../claim-collector.ts';
import type { Item } from '../../source.ts';
import { jinjaTags } from './jinja.ts';

/** A text of a Markdown file, between `{% docs name %}` and `{% enddocs %}`. */
export interface DocBlock {
  readonly text: string;
  readonly place: ItemPlace;
}

/** The doc blocks of a Markdown file, with their names. */
export function readDocBlocks({ key, body }: Item): [name: string, DocBlock][] {
  const lineAt = countLines(body);
  const blocks: [string, DocBlock][] = [];
  let open: { readonly name: string; readonly start: number } | undefined;
  for (const { kind, inside, start, end } of jinjaTags(body)) {
    if (kind !== 'statement') continue;
    const [, name] = /^docs\s+(\w+)$/.exec(inside) ?? [];
    if (open === undefined && name !== undefined) open = { name, start: end };
    else if (open !== undefined && inside === 'enddocs') {
      const written = body.slice(open.start, start);
      const text = written.trim();
      const line = lineAt(open.start + (written.length - written.trimStart().length));
      blocks.push([open.name, { text, place: { key, line, quote: text } }]);
      open = undefined;
    }
  }
  return blocks;
}
