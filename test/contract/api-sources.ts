import type { SourceConfig } from '../../src/sources/config.ts';
import {
  numberedPage as confluencePage,
  type ConfluenceWorldPage,
} from '../recorded/confluence/fernholm.ts';
import {
  confluenceEmail,
  confluenceToken,
  startConfluence,
} from '../recorded/confluence/server.ts';
import type { Fault } from '../recorded/loopback-server.ts';
import { clientSecret, startLooker } from '../recorded/looker/server.ts';
import { apiKey, startMetabase } from '../recorded/metabase/server.ts';
import { numberedPage as notionPage, pageId, text } from '../recorded/notion/fernholm.ts';
import { notionToken, startNotion } from '../recorded/notion/server.ts';

/** The far end of a source behind an API, as the contract suite drives it. */
export interface FarEnd {
  readonly config: SourceConfig;
  /** The right one. */
  readonly token: string;
  readonly requests: string[];
  readonly faults: Fault[];
  hold(match: RegExp): () => void;
  close(): Promise<void>;
  /** The server no longer knows the token. */
  expire(): void;
  /** Changes what nobody wrote: views, times, people, signed links. */
  touch(): void;
  /** Changes one object; returns the key of its item. */
  change(): string;
  /** Deletes one object; returns the key of its item. */
  remove(): string;
  /** Adds so many objects, and serves them in large pages. */
  addMany(count: number): void;
  /** Puts the texts into every field that people can write, one into each object in turn. */
  plant(payloads: readonly string[]): void;
  /** Requests for the body of one object. */
  readonly bodies: RegExp;
  /** The request for the body of the last of 30 more objects. */
  readonly lateBody: RegExp;
  /** True if its listing tells which objects have changed. */
  readonly hasVersions: boolean;
  /** Requests for a further page of a listing. */
  readonly furtherPage: RegExp;
}

/** To add a source: one line here, and its server in `test/recorded/`. */
export const apiSources: Readonly<Record<string, () => Promise<FarEnd>>> = {
  looker: openLookerEnd,
  metabase: openMetabaseEnd,
  notion: openNotionEnd,
  'confluence in the cloud': () => openConfluenceEnd('cloud'),
  'confluence data center': () => openConfluenceEnd('dataCenter'),
};

async function openLookerEnd(): Promise<FarEnd> {
  const server = await startLooker();
  const { world } = server;
  const { looks } = world;
  // The suite has one secret for all references.
  world.id = clientSecret;
  const template = looks.get('1');
  if (template === undefined) throw new Error('no look');
  const set = (id: string, change: object) =>
    looks.set(id, { ...(looks.get(id) ?? template), ...change, id });
  return {
    ...server,
    config: {
      driver: 'looker',
      base_url: server.url,
      client_id: 'env:TOKEN',
      client_secret: 'env:TOKEN',
      warehouse: 'shop',
      usage: '90d',
    },
    token: clientSecret,
    expire: () => {
      world.secret = 'another';
      world.logins += 1;
    },
    touch: () => {
      for (const id of looks.keys()) set(id, { view_count: 9999, user_name: 'Someone Else' });
    },
    change: () => {
      set('1', { description: 'For the board and the auditors.' });
      return 'looks/1.jsonl';
    },
    remove: () => {
      looks.delete('2');
      return 'looks/2.jsonl';
    },
    addMany: (count) => {
      for (let id = 1000; id < 1000 + count; id += 1) set(String(id), { title: `Look ${id}` });
    },
    plant: (payloads) => {
      for (const [index, id] of [...looks.keys()].entries()) {
        const payload = payloads[index % payloads.length];
        set(id, { title: payload, description: payload });
      }
    },
    bodies: /\/looks\/\d+$/,
    lateBody: /\/looks\/1029$/,
    hasVersions: true,
    furtherPage: /\/looks\/search/,
  };
}

async function openMetabaseEnd(): Promise<FarEnd> {
  const server = await startMetabase();
  const { cards } = server.world;
  const template = cards.get(1);
  if (template === undefined) throw new Error('no card');
  const set = (id: number, change: object) =>
    cards.set(id, { ...(cards.get(id) ?? template), ...change, id });

  set(90, { name: 'Third' });
  return {
    ...server,
    config: {
      driver: 'metabase',
      base_url: server.url,
      api_key: 'env:TOKEN',
      databases: { '3': 'shop' },
    },
    token: apiKey,
    expire: () => {
      server.world.key = 'another';
    },
    touch: () => {
      for (const card of cards.values())
        set(card.id, { view_count: 9999, last_used_at: '2027-01-01', creator: { avatar: 'x' } });
    },
    change: () => {
      set(1, { description: 'What was paid, after refunds and returns.' });
      return 'cards/1.jsonl';
    },
    remove: () => {
      cards.delete(90);
      return 'cards/90.jsonl';
    },
    addMany: (count) => {
      server.world.pageSize = 200;
      for (let id = 1000; id < 1000 + count; id += 1) set(id, { name: `Card ${id}` });
    },
    plant: (payloads) => {
      for (const [index, { id }] of [...cards.values()].entries()) {
        const payload = payloads[index % payloads.length];
        set(id, { name: payload, description: payload });
      }
    },
    bodies: /\/api\/card\//,
    lateBody: /\/api\/card\/1029$/,
    hasVersions: false,
    furtherPage: /collection\/3\/items.*offset=2/,
  };
}

async function openNotionEnd(): Promise<FarEnd> {
  const server = await startNotion();
  const { pages } = server.world;
  const set = (id: string, change: object) => {
    const page = pages.get(id);
    if (page === undefined) throw new Error(`no page ${id}`);
    pages.set(id, { ...page, ...change });
  };
  const paragraph = (content: string) => ({
    type: 'paragraph',
    content: { rich_text: [text(content)] },
  });
  return {
    ...server,
    config: { driver: 'notion', token: 'env:TOKEN', base_url: server.url },
    token: notionToken,
    expire: () => {
      server.world.token = 'another';
    },
    touch: () => {
      for (const page of pages.values())
        set(page.id, {
          // Opened and saved again, with nothing else in it.
          edited: '2026-07-05T10:00:00.000Z',
          blocks: page.blocks.map((block) =>
            block.type === 'image'
              ? { ...block, content: { ...block.content, file: { url: 'https://x/b.png?sig=2' } } }
              : block,
          ),
        });
    },
    change: () => {
      const edited = '2026-07-06T10:00:00.000Z';
      set(pageId(2), { edited, blocks: [paragraph('The region ISL stands for the islands.')] });
      return `pages/${pageId(2)}.md`;
    },
    remove: () => {
      pages.delete(pageId(4));
      return `pages/${pageId(4)}.md`;
    },
    addMany: (count) => {
      server.world.pageSize = 100;
      for (let number = 0; number < count; number += 1) {
        const page = notionPage(number);
        pages.set(page.id, page);
      }
    },
    plant: (payloads) => {
      for (const [index, page] of [...pages.values()].entries()) {
        const payload = payloads[index % payloads.length] ?? '';
        set(page.id, {
          title: payload,
          edited: '2026-07-07T10:00:00.000Z',
          blocks: [paragraph(payload), { type: payload, content: { rich_text: [text(payload)] } }],
          properties: page.properties && {
            Definition: { type: 'rich_text', rich_text: [text(payload)] },
          },
        });
      }
    },
    bodies: /\/v1\/blocks\//,
    lateBody: /blocks\/\w+1000029\/children/,
    hasVersions: true,
    furtherPage: /\/v1\/search/,
  };
}

async function openConfluenceEnd(kind: 'cloud' | 'dataCenter'): Promise<FarEnd> {
  const server = await startConfluence();
  const { pages } = server.world;
  const set = (id: string, change: Partial<ConfluenceWorldPage>) => {
    const page = pages.get(id);
    if (page === undefined) throw new Error(`no page ${id}`);
    pages.set(id, { ...page, ...change });
  };
  const isCloud = kind === 'cloud';
  return {
    ...server,
    config: {
      driver: 'confluence',
      base_url: server[kind],
      token: 'env:TOKEN',
      ...(isCloud && { email: confluenceEmail }),
    },
    token: confluenceToken,
    expire: () => {
      server.world.token = 'another';
    },
    touch: () => {
      for (const page of pages.values()) set(page.id, { version: page.version + 1 });
    },
    change: () => {
      set('12', { version: 9, storage: '<p>The region ISL stands for the islands.</p>' });
      return 'pages/12.md';
    },
    remove: () => {
      pages.delete('15');
      return 'pages/15.md';
    },
    addMany: (count) => {
      server.world.pageSize = 100;
      for (let number = 0; number < count; number += 1) {
        const page = confluencePage(number);
        pages.set(page.id, page);
      }
    },
    plant: (payloads) => {
      for (const [index, page] of [...pages.values()].entries()) {
        const payload = payloads[index % payloads.length] ?? '';
        const escaped = payload.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
        set(page.id, {
          version: page.version + 1,
          title: payload,
          labels: [payload],
          storage: `<p>${payload}</p><p>${escaped}</p><ac:structured-macro ac:name="${escaped}"/>`,
        });
      }
    },
    lateBody: /\/1000029\?/,
    hasVersions: true,
    bodies: isCloud ? /\/api\/v2\/pages\/\d+\?/ : /rest\/api\/content\/\d+\?/,
    furtherPage: isCloud ? /spaces\/1001\/pages.*cursor=/ : /spaceKey=FIN.*start=/,
  };
}
