import { basename, join } from 'node:path';
import { UserError } from '../../../lib/error.ts';
import { nearest } from '../../../lib/suggest.ts';
import type { PageSection } from '../../../project/answer/wiki.ts';
import type { Project } from '../../../project/open/open.ts';
import { defineCommand } from '../../command.ts';

export const listWikiCommand = defineCommand({
  description: 'Lists the pages of the wiki with their terms and rules.',
  examples: [['ktx wiki list', 'pages, and what stands on them']],
  hasRows: true,
  define: (command) => command,
  async run(_input, context) {
    const sections = await readSections(await context.project());
    const pages = [...Map.groupBy(sections, ({ path }) => basename(path, '.md'))].map(
      ([page, own]) => ({
        page,
        sections: own.map(({ title }) => title),
        contested: own.filter(({ isContested }) => isContested).map(({ title }) => title),
        stale: own.filter(({ stale }) => stale !== undefined).map(({ title }) => title),
      }),
    );
    const rows = pages.map(({ page, sections: titles, contested, stale }) => [
      page,
      titles.join(', '),
      contested.join(', '),
      stale.join(', '),
    ]);
    const columns = ['page', 'sections', 'contested', 'stale'].map((name) => ({ name }));
    const isEmpty = pages.length === 0;
    return {
      data: { pages },
      ...(!isEmpty && { table: { columns, rows } }),
      notes: isEmpty
        ? ['There is no page yet. Terms and rules come from documents and notes.']
        : [],
      next: isEmpty
        ? [['ktx remember "<what a word means here>"', 'writes the first note']]
        : [[`ktx wiki read ${pages[0]?.page ?? ''}`, 'shows a page']],
    };
  },
});

export const readWikiCommand = defineCommand({
  description: 'Shows a page of the wiki, or one term or rule of it.',
  examples: [
    ['ktx wiki read glossary', 'a page as it is'],
    ['ktx wiki read term:churn', 'what one word means, and whether it is contested'],
  ],
  define: (command) => command.argument('<name>', 'a page, a subject (term:churn) or a title'),
  async run({ args: [name] }, context) {
    const project = await context.project();
    const sections = await readSections(project);
    const wanted = name.toLowerCase();
    const page = sections.find(({ path }) => basename(path, '.md').toLowerCase() === wanted);
    if (page !== undefined) {
      const { readAnyText } = await import('../../../store/files.ts');
      const text = (await readAnyText(join(project.dir, page.path), project.dir)) ?? '';
      return { data: { path: page.path, text }, text: text.trimEnd() };
    }
    const names = ({ subject, title }: PageSection) => [subject, title].map(toLowerCase);
    const section = sections.find((known) => names(known).includes(wanted));
    if (section === undefined) throw unknownError(name, sections);
    const { subject, text, path, line, isContested, stale } = section;
    const notes = [
      ...(isContested ? [`${subject} is contested: ktx review`] : []),
      ...(stale === undefined ? [] : [`${subject} is stale: ${stale}`]),
      `${path}:${line}`,
    ];
    return {
      data: { subject, text, path, line, contested: isContested, stale },
      text: text.trimEnd(),
      notes,
      next: [[`ktx explain "${subject}"`, 'shows where it comes from']],
    };
  },
});

const toLowerCase = (text: string): string => text.toLowerCase();

async function readSections(project: Project): Promise<readonly PageSection[]> {
  const { readWikiSections } = await import('../../../project/answer/wiki.ts');
  return readWikiSections(project);
}

function unknownError(name: string, sections: readonly PageSection[]): UserError {
  const known = sections.flatMap(({ path, subject, title }) => [
    basename(path, '.md'),
    subject,
    title,
  ]);
  const [guess] = nearest(name, [...new Set(known)]);
  return new UserError('unknown_name', `The wiki has no page, term or rule ${name}.`, {
    hint: guess === undefined ? 'ktx wiki list shows what there is' : `did you mean ${guess}?`,
    exitCode: 2,
  });
}
