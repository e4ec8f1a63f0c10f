import {
  hex,
  integer,
  oneOf,
  ref,
  serial,
  sparseSerial,
  uuid,
  words,
  type HandWrittenSchema,
} from '../schema-builder.ts';

export const exchange: HandWrittenSchema = {
  PostTypes: { rows: 8, key: ['Id'], columns: { Id: serial(), Name: words() } },
  Users: {
    rows: 300,
    key: ['Id'],
    columns: {
      Id: serial(-1, 3),
      Reputation: integer(1, 9000),
      DisplayName: words(),
      Views: integer(0, 400),
      UpVotes: integer(0, 500),
      AccountId: sparseSerial(1000, 40),
    },
  },
  Posts: {
    rows: 900,
    key: ['Id'],
    columns: {
      Id: serial(1, 2),
      PostTypeId: ref('PostTypes', 'Id', { share: 0.3 }),
      AcceptedAnswerId: ref('Posts', 'Id', { nulls: 0.8 }),
      ParentId: ref('Posts', 'Id', { nulls: 0.4 }),
      Score: integer(-5, 90),
      ViewCount: integer(0, 9000),
      OwnerUserId: ref('Users', 'Id', { nulls: 0.02 }),
      LastEditorUserId: ref('Users', 'Id', { nulls: 0.5 }),
      AnswerCount: integer(0, 9),
      CommentCount: integer(0, 9),
    },
  },
  Comments: {
    rows: 1200,
    key: ['Id'],
    columns: {
      Id: serial(),
      PostId: ref('Posts', 'Id'),
      Score: integer(0, 20),
      Text: words(),
      UserId: ref('Users', 'Id', { nulls: 0.03 }),
    },
  },
  Votes: {
    rows: 2500,
    key: ['Id'],
    columns: {
      Id: serial(),
      PostId: ref('Posts', 'Id', { orphans: 0.05 }),
      VoteTypeId: ref('VoteTypes', 'Id'),
      UserId: ref('Users', 'Id', { nulls: 0.8 }),
      BountyAmount: integer(50, 500),
    },
  },
  VoteTypes: { rows: 15, key: ['Id'], columns: { Id: serial(), Name: words() } },
  Badges: {
    rows: 800,
    key: ['Id'],
    columns: {
      Id: serial(),
      UserId: ref('Users', 'Id'),
      Name: oneOf('Teacher', 'Student'),
      Class: integer(1, 3),
    },
  },
  PostHistory: {
    rows: 1500,
    key: ['Id'],
    columns: {
      Id: serial(),
      PostHistoryTypeId: integer(1, 25),
      PostId: ref('Posts', 'Id'),
      RevisionGUID: uuid(),
      UserId: ref('Users', 'Id', { nulls: 0.05 }),
    },
  },
  PostLinks: {
    rows: 200,
    key: ['Id'],
    columns: {
      Id: serial(),
      PostId: ref('Posts', 'Id'),
      RelatedPostId: ref('Posts', 'Id'),
      LinkTypeId: oneOf('1', '3'),
    },
  },
  Tags: {
    rows: 120,
    key: ['Id'],
    columns: {
      Id: serial(),
      TagName: hex(6),
      Count: integer(1, 900),
      ExcerptPostId: ref('Posts', 'Id', { nulls: 0.3 }),
      WikiPostId: ref('Posts', 'Id', { nulls: 0.3 }),
    },
  },
};
