import {
  cycle,
  day,
  integer,
  oneOf,
  ref,
  serial,
  uuid,
  words,
  type HandWrittenSchema,
} from '../schema-builder.ts';

export const tracker: HandWrittenSchema = {
  workspace: {
    rows: 5,
    key: ['id'],
    columns: { id: uuid(), name: words(), plan: oneOf('free', 'team') },
  },
  member: {
    rows: 45,
    key: ['id'],
    columns: {
      id: uuid(),
      workspace: ref('workspace', 'id'),
      handle: words(),
      invited_by: ref('member', 'id', { nulls: 0.3 }),
    },
  },
  project: {
    rows: 20,
    key: ['id'],
    columns: {
      id: uuid(),
      workspace: ref('workspace', 'id'),
      lead: ref('member', 'id', { nulls: 0.1 }),
      title: words(),
    },
  },
  state: {
    rows: 5,
    key: ['slug'],
    columns: { slug: cycle('backlog', 'todo', 'doing', 'done', 'dropped'), sort: serial() },
  },
  issue: {
    rows: 400,
    key: ['id'],
    columns: {
      id: uuid(),
      number: serial(),
      project: ref('project', 'id'),
      state: ref('state', 'slug'),
      reporter: ref('member', 'id'),
      assignee: ref('member', 'id', { nulls: 0.4 }),
      parent: ref('issue', 'id', { nulls: 0.7 }),
      estimate: integer(1, 8),
    },
  },
  label: {
    rows: 30,
    key: ['id'],
    columns: { id: uuid(), workspace: ref('workspace', 'id'), name: words() },
  },
  issue_label: {
    rows: 300,
    key: ['issue', 'label'],
    columns: { issue: ref('issue', 'id'), label: ref('label', 'id') },
  },
  comment: {
    rows: 500,
    key: ['id'],
    columns: {
      id: uuid(),
      issue: ref('issue', 'id'),
      author: ref('member', 'id'),
      body: words(),
      at: day(),
    },
  },
  attachment: {
    rows: 80,
    key: ['id'],
    columns: {
      id: uuid(),
      comment: ref('comment', 'id', { orphans: 0.03 }),
      bytes: integer(100, 90_000),
    },
  },
};
