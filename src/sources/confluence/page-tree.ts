import type { ConfluenceClient, ListedPage, PageFacts } from './confluence-client.ts';
import { refusedStatus } from '../http/client.ts';

/** The pages of the spaces that are read, and what lies above them. */
export interface PageTree {
  readonly pages: ReadonlyMap<string, ListedPage>;
  /** True if the page is one of `roots` or lies below one. */
  isBelow(page: ListedPage, roots: ReadonlySet<string>): Promise<boolean>;
  /**
   * True if Confluence shows the page only to some people, because of itself or of what is above
   * it. Throws where that cannot be found out: then nobody knows who may read it.
   */
  isRestricted(page: ListedPage): Promise<boolean>;
}

interface TreeContext {
  readonly confluence: ConfluenceClient;
  readonly pages: ReadonlyMap<string, ListedPage>;
  readonly facts: ReadonlyMap<string, PageFacts>;
}

type Parent = NonNullable<ListedPage['parent']>;

/** Asks for each thing above pages once. */
export function openPageTree({ confluence, pages, facts }: TreeContext): PageTree {
  const parents = new Map<string, Promise<Parent | undefined>>();
  const own = new Map<string, Promise<boolean>>();
  const parentOf = ({ id, isPage }: Parent): Promise<Parent | undefined> => {
    const known = pages.get(id);
    if (known !== undefined) return Promise.resolve(known.parent);
    // Above a page that is not listed, the restrictions of that page count.
    if (isPage || !confluence.isCloud) return Promise.resolve(undefined);
    return remember(parents, id, async () => {
      const { parentId, parentType } = await confluence.folder(id);
      return parentId ? { id: parentId, isPage: parentType !== 'folder' } : undefined;
    });
  };
  const hasOwnRestriction = ({ id, isPage }: Parent): Promise<boolean> => {
    const known = facts.get(id);
    if (known !== undefined) return Promise.resolve(known.isRestricted);
    return remember(own, id, async () => {
      try {
        return await confluence.isRestricted(id);
      } catch (error) {
        // Folders have no such list of their own.
        if (!isPage && refusedStatus(error) === 404) return false;
        throw error;
      }
    });
  };
  const someAbove = async (
    page: ListedPage,
    holds: (place: Parent) => boolean | Promise<boolean>,
  ): Promise<boolean> => {
    const seen = new Set<string>();
    let place: Parent | undefined = { id: page.id, isPage: true };
    while (place !== undefined && !seen.has(place.id)) {
      if (await holds(place)) return true;
      seen.add(place.id);
      place = await parentOf(place);
    }
    return false;
  };
  return {
    pages,
    isBelow: (page, roots) => someAbove(page, ({ id }) => roots.has(id)),
    isRestricted: (page) => someAbove(page, hasOwnRestriction),
  };
}

function remember<T>(
  answers: Map<string, Promise<T>>,
  id: string,
  ask: () => Promise<T>,
): Promise<T> {
  const answer = answers.get(id) ?? ask();
  answers.set(id, answer);
  return answer;
}
