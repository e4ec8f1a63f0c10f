import { describe, expect, test } from 'vitest';
import type { ParsedDocument } from '../../src/sources/documents/document-block.ts';
import { readHtml } from '../../src/sources/documents/read-html.ts';
import { readMarkdown } from '../../src/sources/documents/read-markdown.ts';
import { readDocBlocks } from '../../src/sources/dbt/files/doc-blocks.ts';

/**
 * ktx once read Markdown, HTML and Jinja with regular expressions of its own. These are the inputs
 * that its libraries read differently, with what was read before, what is read now, and why.
 */

const paragraphs = ({ blocks }: ParsedDocument): string[] =>
  blocks.flatMap((block) => {
    if (block.kind === 'heading') return [`# ${block.text}`];
    if (block.kind === 'text') return [block.text];
    return [block.header, ...block.rows.map(({ cells }) => cells)].map((row) => row.join(' | '));
  });

interface Difference {
  readonly why: string;
  readonly input: string;
  readonly was: readonly string[];
  readonly now: readonly string[];
}

const markdown: readonly Difference[] = [
  {
    why: 'a line of = or - under text makes it a heading',
    input: 'Orders\n======\nwords',
    was: ['Orders\n======\nwords'],
    now: ['# Orders', 'words'],
  },
  {
    why: 'a line of * is a rule and no text',
    input: 'words\n\n***',
    was: ['words', '*'],
    now: ['words'],
  },
  {
    why: 'entities are characters',
    input: 'costs &amp; fees &euro;',
    was: ['costs &amp; fees &euro;'],
    now: ['costs & fees €'],
  },
  {
    why: 'an address in angle brackets is text and no tag',
    input: 'see <https://x.org/a> there',
    was: ['see  there'],
    now: ['see https://x.org/a there'],
  },
  {
    why: 'the target of a link is no text',
    input: 'see [terms][t] there\n\n[t]: terms.md',
    was: ['see terms there', '[t]: terms.md'],
    now: ['see terms there'],
  },
  {
    why: 'brackets without a target are brackets',
    input: 'see [terms][t] there',
    was: ['see terms there'],
    now: ['see [terms][t] there'],
  },
  {
    why: 'the title of a link may have parentheses',
    input: '[a](b "t (u)") c',
    was: ['a") c'],
    now: ['a c'],
  },
  {
    why: 'the marks of a quote are no text',
    input: '> quoted words\n> go on',
    was: ['> quoted words\n> go on'],
    now: ['quoted words\ngo on'],
  },
  {
    why: 'a backslash at the end of a line is a line break',
    input: 'a\\\nb',
    was: ['a\\\nb'],
    now: ['a\nb'],
  },
  {
    why: 'code may be marked with two backticks',
    input: '`` a`b ``',
    was: ['`` a`b ``'],
    now: ['`a`b`'],
  },
  {
    why: 'an unmatched mark of emphasis stays one mark',
    input: 'words **a*',
    was: ['words **a*'],
    now: ['words *a'],
  },
  {
    why: 'a table may stand in a list',
    input: '- | a | b |\n  |---|---|\n  | 1 | 2 |',
    was: ['- | a | b |\n|---|---|\n| 1 | 2 |'],
    now: ['a | b', '1 | 2'],
  },
  {
    why: 'a row has as many cells as its header',
    input: '| a | b |\n|---|---|\n| 1 | 2 | 3 |\n| 4 |',
    was: ['a | b', '1 | 2 | 3', '4'],
    now: ['a | b', '1 | 2', '4 | '],
  },
  {
    why: 'a row ends with its header, in code too: a | in code needs a backslash',
    input: 'a | b\n--|--\n`x|y` | 2',
    was: ['a | b', '`x | y` | 2'],
    now: ['a | b', '`x | y`'],
  },
  {
    why: 'a line of import is left out, and the text begins anew behind it',
    input: 'text\nimport x from "y"\nmore',
    was: ['text\nmore'],
    now: ['text', 'more'],
  },
];

const html: readonly Difference[] = [
  {
    why: 'every entity of HTML is a character, also without a semicolon where HTML has it so',
    input: '<p>a &amp b &copy; &rarr;</p>',
    was: ['a &amp b &copy; &rarr;'],
    now: ['a & b © →'],
  },
  {
    why: 'a number that is no character is the replacement character',
    input: '<p>a&#0;b&#128;',
    was: ['a&#0;b\u0080'],
    now: ['a\uFFFDb€'],
  },
  {
    why: 'the title is not shown on the page, whether or not the head is closed',
    input: '<head><title>T</title><p>words',
    was: ['T', 'words'],
    now: ['words'],
  },
  {
    why: 'what is hidden and not closed hides the rest, as in a browser',
    input: '<p>a<template>b',
    was: ['ab'],
    now: ['a'],
  },
  {
    why: 'a hidden element may hold another of its kind',
    input: '<svg><svg></svg>text</svg>words',
    was: ['textwords'],
    now: ['words'],
  },
  {
    why: 'text of the head that is no title is shown',
    input: '<head><style>x</style>t</head>b',
    was: ['b'],
    now: ['tb'],
  },
  {
    why: 'an attribute may have > in quotes',
    input: '<p title="a>b">words</p>',
    was: ['b">words'],
    now: ['words'],
  },
  {
    why: 'a comment is nothing, and one that is not closed has no end',
    input: '<p>a<!-- x --- y -->b<!-- open',
    was: ['a b<!-- open'],
    now: ['ab'],
  },
  {
    why: 'a text area holds text and no tags',
    input: '<textarea><p>x</textarea>y',
    was: ['xy'],
    now: ['<p>xy'],
  },
  {
    why: 'a processing instruction ends at the first >',
    input: '<?php echo "<p>a" ?>b',
    was: ['<?php echo "', 'a" ?>b'],
    now: ['a" ?>b'],
  },
  { why: 'an empty end tag is nothing', input: '</>x', was: ['</>x'], now: ['x'] },
  {
    why: 'CDATA is a comment',
    input: '<![CDATA[ x ]]>y',
    was: ['<![CDATA[ x ]]>y'],
    now: ['y'],
  },
];

describe('read differently than before', () => {
  test.each(markdown)('Markdown: $why', ({ input, was, now }) => {
    expect(paragraphs(readMarkdown(input))).toEqual(now);
    expect(now).not.toEqual(was);
  });

  test.each(html)('HTML: $why', ({ input, was, now }) => {
    expect(paragraphs(readHtml(input))).toEqual(now);
    expect(now).not.toEqual(was);
  });

  test('dbt: a doc block inside of a comment is none', () => {
    const key = 'a.md';
    const body = '{# {% docs old %}was{% enddocs %} #}{% docs new %}is{% enddocs %}';
    // Was: old and new.
    expect(readDocBlocks({ key, path: key, body }).map(([name]) => name)).toEqual(['new']);
  });
});

describe('read as before, though Markdown has it otherwise', () => {
  test.each([
    {
      why: 'a line without | ends a table',
      input: '| a | b |\n|---|---|\n| 1 | 2 |\nno pipe here',
      is: ['a | b', '1 | 2', 'no pipe here'],
    },
    {
      why: 'a * between letters is a product',
      input: 'price*quantity*rate, a*b* and *emphasis*',
      is: ['price*quantity*rate, a*b* and emphasis'],
    },
    { why: 'indented text is prose', input: '    indented words', is: ['indented words'] },
    { why: 'text that is struck out keeps its marks', input: '~~old~~ new', is: ['~~old~~ new'] },
    {
      why: 'tags of JSX are no text',
      input: '<Note type={x}>words</Note> of <Tabs items={["a"]} />',
      is: ['words of '.trim()],
    },
    {
      why: 'an element around a table is no text',
      input: '<details>\n<summary>x</summary>\n| a | b |\n|---|---|\n| 1 | 2 |\n</details>',
      is: ['x', 'a | b', '1 | 2'],
    },
    {
      why: 'lists keep their markers, one text up to a blank line',
      input: 'Rules:\n- one\n- two\n\n1. three\n   more\n2. four',
      is: ['Rules:\n- one\n- two', '1. three\nmore\n2. four'],
    },
  ])('$why', ({ input, is }) => {
    expect(paragraphs(readMarkdown(input))).toEqual(is);
  });

  test('the lines of blocks are those of the file', () => {
    const input =
      '---\nx: 1\n---\n# A\n\n<!-- c\nc -->\ntext\n\n| a | b |\n|--|--|\n| 1 | 2 |\nafter\n';
    expect(readMarkdown(input).blocks).toEqual([
      { kind: 'heading', level: 1, text: 'A', line: 4 },
      { kind: 'text', text: 'text', line: 8 },
      { kind: 'table', header: ['a', 'b'], rows: [{ cells: ['1', '2'], line: 12 }], line: 10 },
      { kind: 'text', text: 'after', line: 13 },
    ]);
  });
});
