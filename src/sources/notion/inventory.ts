import { UserError } from '../../lib/error.ts';
import { itemFailure, refusedStatus } from '../http/client.ts';
import { apiLimits } from '../http/config.ts';
import {
  isTrashed,
  type NotionDataSource,
  type NotionPage,
  type NotionParent,
} from './api-schemas.ts';
import type { NotionConfig } from './config.ts';
import { isNotShared, type NotionClient, sharingHint } from './notion-client.ts';
import { notionId } from './notion-id.ts';

/** The pages and data sources that the configuration asks for, as far as they are known. */
export interface NotionInventory {
  /** With their titles, and without their other properties. */
  readonly pages: Map<string, NotionPage>;
  readonly dataSources: Map<string, NotionDataSource>;
  /** Why it may not be complete. */
  readonly gaps: string[];
  /** Adds an object that was found elsewhere, if the configuration asks for it. */
  add(object: NotionPage | NotionDataSource): Promise<void>;
}

interface InventoryContext {
  readonly notion: NotionClient;
  readonly config: NotionConfig;
  readonly connection: string;
  readonly gaps: string[];
}

/**
 * Lists what the search of Notion finds, and the roots themselves. The search may miss what is new;
 * the walk through the pages adds that.
 */
export async function listNotion(context: InventoryContext): Promise<NotionInventory> {
  const { notion, config, gaps } = context;
  const roots = new Set((config.roots ?? []).flatMap((text) => notionId(text) ?? []));
  const found = new Map<string, NotionPage | NotionDataSource>();
  try {
    for await (const object of notion.search()) addKnown(found, object, context);
  } catch (error) {
    gaps.push(describeFailure(error));
  }
  for (const root of roots) {
    if (found.has(root)) continue;
    try {
      for (const object of await readObjects(root, notion)) addKnown(found, object, context);
    } catch (error) {
      gaps.push(`root ${root}: ${describeFailure(error)}`);
    }
  }
  const parents = openParents(notion, found);
  const isWanted = async (object: NotionPage | NotionDataSource) =>
    !isTrashed(object) && (roots.size === 0 || (await parents.isBelow(object, roots)));
  const inventory: NotionInventory = {
    pages: new Map(),
    dataSources: new Map(),
    gaps,
    add: async (object) => {
      addKnown(found, object, context);
      try {
        if (!(await isWanted(object))) return;
      } catch (error) {
        gaps.push(`the place of ${object.id}: ${describeFailure(error)}`);
        return;
      }
      const known = found.get(object.id);
      if (known?.object === 'page') inventory.pages.set(known.id, known);
      if (known?.object === 'data_source') inventory.dataSources.set(known.id, known);
    },
  };
  for (const object of found.values()) await inventory.add(object);
  return inventory;
}

function addKnown(
  found: Map<string, NotionPage | NotionDataSource>,
  object: NotionPage | NotionDataSource,
  { config, connection }: InventoryContext,
): void {
  const { mostItems } = apiLimits(config);
  const title = Object.entries(object.properties).filter(([, { type }]) => type === 'title');
  const isPage = object.object === 'page';
  found.set(object.id, isPage ? { ...object, properties: Object.fromEntries(title) } : object);
  if (found.size > mostItems)
    throw new UserError('too_many_items', `${connection} has more than ${mostItems} pages.`, {
      hint: 'Set `roots` to the pages that define your data, or raise `max_items`.',
      exitCode: 2,
    });
}

/** A page, a data source, or the data sources of a database: an id does not say which it is. */
async function readObjects(
  id: string,
  notion: NotionClient,
): Promise<readonly (NotionPage | NotionDataSource)[]> {
  const readDatabase = async () => {
    const { data_sources: sources } = await notion.database(id);
    return Promise.all(sources.map((source) => notion.dataSource(source.id)));
  };
  const attempts = [
    async () => [await notion.page(id)],
    readDatabase,
    async () => [await notion.dataSource(id)],
  ];
  let failure: unknown;
  for (const attempt of attempts) {
    try {
      return await attempt();
    } catch (error) {
      failure = error;
      // 400: the id is of another kind of object.
      if (refusedStatus(error) !== 400 && !isNotShared(error)) throw error;
    }
  }
  throw failure;
}

/** The reason of a failure that is about one object; throws any other error. */
export function describeFailure(error: unknown): string {
  const reason = itemFailure(error);
  if (reason === undefined) throw error;
  return isNotShared(error) ? `${reason} If it exists, ${sharingHint}` : reason;
}

/** Finds out what lies below what. Blocks on the way are asked for once. */
function openParents(
  notion: NotionClient,
  found: ReadonlyMap<string, NotionPage | NotionDataSource>,
) {
  const parentOfBlock = new Map<string, NotionParent | undefined>();
  const blockParent = async (id: string) => {
    if (!parentOfBlock.has(id)) parentOfBlock.set(id, (await notion.block(id)).parent);
    return parentOfBlock.get(id);
  };
  const nextParent = async (parent: NotionParent): Promise<NotionParent | undefined> => {
    if (parent.block_id !== undefined) return blockParent(parent.block_id);
    const id = parent.data_source_id ?? parent.page_id;
    const object = id === undefined ? undefined : found.get(id);
    if (object !== undefined) return parentOf(object);
    const { database_id: database } = parent;
    const source = [...found.values()].find(
      (entry) => entry.object === 'data_source' && entry.parent.database_id === database,
    );
    return database === undefined || source?.object !== 'data_source'
      ? undefined
      : source.database_parent;
  };
  /** By the ids of a parent: what lies in one place is asked for once. */
  const answers = new Map<string, boolean>();
  const isBelow = async (
    object: NotionPage | NotionDataSource,
    roots: ReadonlySet<string>,
  ): Promise<boolean> => {
    if (roots.has(object.id)) return true;
    const way: string[] = [];
    let answer: boolean | undefined;
    let parent: NotionParent | undefined = parentOf(object);
    while (parent !== undefined && answer === undefined) {
      const ids = idsOf(parent);
      const place = ids.join(' ');
      answer = way.includes(place) ? false : answers.get(place);
      if (ids.some((id) => roots.has(id))) answer = true;
      way.push(place);
      parent = await nextParent(parent);
    }
    for (const place of way) answers.set(place, answer === true);
    return answer === true;
  };
  return { isBelow };
}

function idsOf({ page_id, database_id, data_source_id, block_id }: NotionParent): string[] {
  return [page_id, database_id, data_source_id, block_id].filter((id) => id !== undefined);
}

/** The parent of a data source is its database, whose own parent counts as well. */
function parentOf(object: NotionPage | NotionDataSource): NotionParent {
  return object.object === 'page'
    ? object.parent
    : { ...object.database_parent, type: 'database', database_id: object.parent.database_id };
}
