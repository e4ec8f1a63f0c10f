interface NavigationGroup {
  readonly title: string;
  /** Files of the repository, or patterns. */
  readonly pages: readonly string[];
}

/** The pages of the documentation by what a reader wants to do. */
export const navigation: readonly NavigationGroup[] = [
  {
    title: 'Start',
    pages: ['docs/README.md', 'docs/quickstart.md', 'docs/tutorial.md', 'README.md'],
  },
  {
    title: 'Connect',
    pages: [
      'docs/warehouses.md',
      'docs/warehouses/*',
      'docs/sources.md',
      'docs/sources/*',
      'docs/trust.md',
    ],
  },
  { title: 'Model', pages: ['docs/semantic-layer.md', 'docs/scan.md', 'docs/files-and-git.md'] },
  { title: 'Ask', pages: ['docs/agents.md', 'docs/llm.md', 'docs/embeddings.md'] },
  { title: 'Review', pages: ['docs/web.md', 'docs/privacy.md'] },
  { title: 'Evaluate', pages: ['docs/evals.md'] },
  { title: 'Serve', pages: ['docs/mcp.md', 'docs/server.md'] },
  {
    title: 'Coming from',
    pages: [
      'docs/coming-from/dbt.md',
      'docs/coming-from/metricflow.md',
      'docs/coming-from/cube.md',
      'docs/coming-from/lookml.md',
    ],
  },
  { title: 'Extend', pages: ['CONTRIBUTING.md', 'ARCHITECTURE.md', 'GLOSSARY.md'] },
  {
    title: 'Reference',
    pages: [
      'docs/reference/commands.md',
      'docs/reference/config.md',
      'docs/reference/agents.md',
      'docs/reference/evals.md',
      'docs/limits.md',
      'docs/upgrading.md',
      'CHANGELOG.md',
    ],
  },
];

/** Pages whose sections are also pages: one for each warehouse, and one for each source. */
export const splitPages: Readonly<Record<string, RegExp>> = {
  'docs/warehouses.md': /^(?:Secrets|The read-only gate|Who asked|Limits|Not yet)$/,
  'docs/sources.md': /^(?:What a model reads|What is kept|Where sources disagree)$/,
};
