import { z } from 'zod';
import { parseSubject } from '../../context/claims/subject.ts';
import { resolveDataset, resolveField, refusal } from '../../ingest/extract/resolve-names.ts';
import type { Snapshot } from '../../ingest/project-snapshot.ts';
import { nearest } from '../../lib/suggest.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import { datasetNames } from '../../context/catalog/dataset-names.ts';
import { documentKinds } from '../../search/documents.ts';
import { type LoopTool, loopTool } from '../loop-tool.ts';

/** Any session that reads the project as it was when the run began. */
interface ReadingSession {
  readonly snapshot: Snapshot;
}

const dataset = z.string().describe('Name of a dataset, like orders.');

/** What is known already, as the run found it. */
export const projectTools: readonly LoopTool<ReadingSession>[] = [
  loopTool({
    name: 'search_context',
    description:
      'Finds datasets, fields, metrics, terms and rules by words; typos are fine. Its names work in the other tools.',
    inputSchema: z.object({
      text: z.string(),
      kinds: z.array(z.enum(documentKinds)).optional(),
      limit: z.int().min(1).max(50).default(15),
    }),
    run({ text, ...options }, { session }) {
      const hits = session.snapshot
        .search(text, options)
        .map(({ kind, subject, description }) => ({ kind, subject, description }));
      return hits.length === 0
        ? 'Nothing found; try other words.'
        : untrustedBlock('search', hits.map((hit) => JSON.stringify(hit)).join('\n'));
    },
  }),
  loopTool({
    name: 'read_dataset',
    description: 'One dataset as people see it: fields, metrics, joins, descriptions.',
    inputSchema: z.object({ dataset }),
    run({ dataset: name }, { session: { snapshot } }) {
      const { connection, dataset: own } = resolveDataset(snapshot, name);
      const found = snapshot.dataset(connection, own);
      if (found === undefined)
        return 'It has no file that can be read; entity_details shows its table.';
      const visible = <Part extends { readonly hidden?: boolean | undefined }>(
        parts: readonly Part[] | undefined,
      ) => parts?.filter(({ hidden }) => hidden !== true);
      const shown = {
        ...found,
        fields: visible(found.fields),
        metrics: visible(found.metrics),
        extensions: undefined,
      };
      return untrustedBlock(own, JSON.stringify(shown, null, 1));
    },
  }),
  loopTool({
    name: 'entity_details',
    description: 'The table behind a dataset: columns with types, keys, comments of the database.',
    inputSchema: z.object({ dataset }),
    run({ dataset: name }, { session: { snapshot } }) {
      const { connection, dataset: own } = resolveDataset(snapshot, name);
      const catalog = snapshot.catalogs.find((one) => one.connection === connection);
      const names = catalog && datasetNames(catalog);
      const table = catalog?.tables.find((one) => names?.dataset(one) === own);
      return untrustedBlock(own, JSON.stringify(table ?? {}, null, 1));
    },
  }),
  loopTool({
    name: 'find_values',
    description:
      'The declared values of a field, where they are declared. What the data holds beside them is not known here.',
    inputSchema: z.object({ dataset, field: z.string() }),
    run({ dataset: name, field }, { session: { snapshot } }) {
      const owner = resolveDataset(snapshot, name);
      const own = resolveField(snapshot, owner, field);
      const values = snapshot
        .dataset(owner.connection, owner.dataset)
        ?.fields?.find((one) => one.name === own)?.values;
      return values === undefined
        ? `No values are declared for ${owner.dataset}.${own}.`
        : untrustedBlock(own, JSON.stringify(values));
    },
  }),
  loopTool({
    name: 'read_page',
    description: 'A page of the wiki, or everything that is claimed of one term or rule.',
    inputSchema: z.object({ name: z.string().describe('Like glossary, rules, term:net_revenue.') }),
    run({ name }, { session: { snapshot } }) {
      const pages = [...snapshot.files.keys()].flatMap(
        (path) => /^wiki\/(.+)\.md$/.exec(path)?.[1] ?? [],
      );
      const page = name.replace(/^wiki\//, '').replace(/\.md$/, '');
      const text = snapshot.files.get(`wiki/${page}.md`);
      if (text !== undefined) return untrustedBlock(page, text.slice(0, 20_000));
      const claims = parseSubject(name) === undefined ? snapshot.claims(name) : [];
      if (claims.length > 0)
        return untrustedBlock(
          name,
          JSON.stringify(
            claims.map(({ kind, body }) => ({ kind, body })),
            null,
            1,
          ),
        );
      const near = nearest(page, pages);
      throw refusal(
        `There is no page ${page}. ${near.length > 0 ? `Did you mean ${near.join(', ')}?` : `There are ${pages.join(', ') || 'none yet'}.`}`,
      );
    },
  }),
];
