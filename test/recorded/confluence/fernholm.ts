/** What the Confluence of the sample company has, in a short form that the server writes out. */

export interface ConfluenceWorldPage {
  readonly id: string;
  readonly space: string;
  readonly title: string;
  readonly parent?: string;
  readonly version: number;
  readonly storage: string;
  readonly labels: readonly string[];
  /** Names of the people who may see it; everyone without them. */
  readonly readers?: readonly string[];
  /** True for a page that the search has not indexed yet. */
  readonly isFresh?: boolean;
  /** True if `parent` is a folder below the page 11. */
  readonly isInFolder?: boolean;
}

export const spaces = [
  { id: '1001', key: 'FIN', name: 'Finance', type: 'global' },
  { id: '1002', key: 'OPS', name: 'Operations', type: 'global' },
  { id: '1003', key: '~ada', name: 'Ada', type: 'personal' },
];

const macro = (name: string, body: string) =>
  `<ac:structured-macro ac:name="${name}" ac:schema-version="1"><ac:rich-text-body>${body}</ac:rich-text-body></ac:structured-macro>`;

export const pages: readonly ConfluenceWorldPage[] = [
  {
    id: '11',
    space: 'FIN',
    title: 'Definitions',
    version: 3,
    labels: ['data-dictionary'],
    storage:
      `<h1>Revenue</h1><p>Net revenue is the sum of <code>orders.amount</code> of paid orders &ndash; without orders that were cancelled. Ask <ac:link><ri:user ri:account-id="u1" /></ac:link>.</p>` +
      macro('info', '<p>A return lowers the revenue of the day it arrives.</p>') +
      '<table><tbody><tr><th><p>Term</p></th><th><p>Definition</p></th><th><p>Formula</p></th></tr>' +
      '<tr><td><p>Average order value</p></td><td><p>What an order is worth on average.</p></td><td><p><code>avg(orders.amount)</code></p></td></tr></tbody></table>' +
      '<ac:structured-macro ac:name="jira"><ac:parameter ac:name="key">FIN-7</ac:parameter></ac:structured-macro>' +
      '<ac:structured-macro ac:name="mystery"><ac:parameter ac:name="a">b</ac:parameter></ac:structured-macro>',
  },
  {
    id: '12',
    space: 'FIN',
    title: 'Regions',
    parent: '11',
    version: 1,
    labels: [],
    storage: '<p>The region DCH stands for Germany, Austria and Switzerland.</p>',
  },
  {
    id: '13',
    space: 'FIN',
    title: 'Salaries',
    parent: '11',
    version: 1,
    labels: ['data-dictionary'],
    storage: '<p>What everybody earns, in a long list of names and numbers.</p>',
    readers: ['cfo'],
  },
  {
    id: '14',
    space: 'FIN',
    title: 'Bonuses',
    parent: '13',
    version: 1,
    labels: [],
    storage: '<p>Below a page that only some may see, and so for them alone.</p>',
  },
  {
    id: '15',
    space: 'OPS',
    title: 'Shipping',
    version: 2,
    labels: [],
    storage: '<p>An order ships within two days, or else the customer hears why.</p>',
    isFresh: true,
  },
  {
    id: '16',
    space: '~ada',
    title: 'Private notes',
    version: 1,
    labels: [],
    storage: '<p>Nothing that a data agent should ever read or know.</p>',
  },
];

/** A page for tests of many. */
export function numberedPage(number: number): ConfluenceWorldPage {
  return {
    id: String(1_000_000 + number),
    space: 'FIN',
    title: `Page ${number}`,
    parent: '11',
    version: 1,
    labels: [],
    storage: `<p>What page ${number} says, in a few words of its own.</p>`,
  };
}
