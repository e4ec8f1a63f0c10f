import { z } from 'zod';
import { parseSubject } from '../../context/claims/subject.ts';
import {
  resolveDataset,
  resolveField,
  refusal,
} from '../../ingest/extract/proposals/resolve-names.ts';
import type { Snapshot } from '../../ingest/project-snapshot.ts';
import { nearest } from '../../lib/suggest.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import { datasetNames } from '../../context/catalog/dataset-names.ts';
import { documentKinds } from '../../search/documents.ts';
import { noValues } from '../../llm/egress/sent-values.ts';
import { type LoopTool, defineLoopTool } from '../loop-tool.ts';
import { sendableFields } from './declared-values.ts';

/** Any session that reads the project as it was when the run began. */
interface ReadingSession {
  readonly snapshot: Snapshot;
}

const dataset = z.string().describe('Name of a dataset, like orders.');

/** Read what the project already contains. */
export const projectTools: readonly LoopTool<ReadingSession>[] = [
  defineLoopTool({
    name: 'search_context',
    description:
      'Searches datasets, fields, metrics, terms and rules; typos are fine. Other tools take the names it returns.',
    inputSchema: z.object({
      text: z.string(),
      kinds: z.array(z.enum(documentKinds)).optional(),
      limit: z.int().min(1).max(50).default(15),
    }),
    carries: 'nothing',
    run({ text, ...options }, { session }) {
      const hits = session.snapshot
        .search(text, options)
        .map(({ kind, subject, description }) => ({ kind, subject, description }));
      return hits.length === 0
        ? 'Nothing found. Try other words.'
        : untrustedBlock('search', hits.map((hit) => JSON.stringify(hit)).join('\n'));
    },
  }),
  defineLoopTool({
    name: 'read_dataset',
    description: 'Reads one dataset as people see it: fields, metrics, joins, descriptions.',
    inputSchema: z.object({ dataset }),
    carries: 'values',
    run({ dataset: name }, { project, session: { snapshot } }) {
      const owner = resolveDataset(snapshot, name);
      const found = snapshot.dataset(owner.connection, owner.dataset);
      if (found === undefined)
        return {
          markdown: 'It has no readable file; entity_details shows its table.',
          values: noValues,
        };
      const visible = <Part extends { readonly hidden?: boolean | undefined }>(
        parts: readonly Part[] | undefined,
      ) => parts?.filter(({ hidden }) => hidden !== true);
      const visibleFields = visible(found.fields) ?? [];
      const { fields, values } = sendableFields(visibleFields, { project, snapshot, owner });
      const metrics = visible(found.metrics);
      const shown = { ...found, fields, metrics, extensions: undefined };
      return { markdown: untrustedBlock(owner.dataset, JSON.stringify(shown, null, 1)), values };
    },
  }),
  defineLoopTool({
    name: 'entity_details',
    description:
      'Shows the table of a dataset: columns with types, keys, comments in the database.',
    inputSchema: z.object({ dataset }),
    carries: 'values',
    run({ dataset: name }, { project, session: { snapshot } }) {
      const owner = resolveDataset(snapshot, name);
      const catalog = snapshot.catalogs.find((each) => each.connection === owner.connection);
      const names = catalog && datasetNames(catalog);
      const table = catalog?.tables.find((each) => names?.dataset(each) === owner.dataset);
      const place = { project, snapshot, owner };
      const { fields: columns, values } = sendableFields(table?.columns ?? [], place);
      const shown = table === undefined ? {} : { ...table, columns };
      return { markdown: untrustedBlock(owner.dataset, JSON.stringify(shown, null, 1)), values };
    },
  }),
  defineLoopTool({
    name: 'find_values',
    description: 'Lists the declared values of a field. The data may contain others.',
    inputSchema: z.object({ dataset, field: z.string() }),
    carries: 'values',
    run({ dataset: name, field }, { project, session: { snapshot } }) {
      const owner = resolveDataset(snapshot, name);
      const own = resolveField(snapshot, owner, field);
      const declared = snapshot
        .dataset(owner.connection, owner.dataset)
        ?.fields?.filter((each) => each.name === own && each.hidden !== true);
      const { fields, values } = sendableFields(declared ?? [], { project, snapshot, owner });
      const found = fields[0]?.values;
      const markdown = !Array.isArray(found)
        ? `No values are declared for ${owner.dataset}.${own}, or they stay on this machine.`
        : untrustedBlock(own, JSON.stringify(found));
      return { markdown, values };
    },
  }),
  defineLoopTool({
    name: 'read_page',
    description: 'Reads a page of the wiki, or all claims about one term or rule.',
    inputSchema: z.object({
      name: z.string().describe('For example glossary, rules or term:net_revenue.'),
    }),
    carries: 'nothing',
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
