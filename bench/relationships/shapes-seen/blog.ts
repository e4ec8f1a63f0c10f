import {
  computed,
  constant,
  hex,
  integer,
  moment,
  oneOf,
  ref,
  serial,
  words,
  type HandWrittenSchema,
} from '../schema-builder.ts';

export const blog: HandWrittenSchema = {
  bl_users: {
    rows: 60,
    key: ['ID'],
    columns: {
      ID: serial(),
      user_login: hex(7),
      user_email: computed('TEXT', ({ row }) => `u${row}@example.org`),
      user_status: constant(0),
    },
  },
  bl_usermeta: {
    rows: 500,
    key: ['umeta_id'],
    columns: {
      umeta_id: serial(),
      user_id: ref('bl_users', 'ID'),
      meta_key: oneOf('nickname', 'locale', 'rich_editing'),
      meta_value: words(),
    },
  },
  bl_posts: {
    rows: 420,
    key: ['ID'],
    columns: {
      ID: serial(1, 2),
      post_author: ref('bl_users', 'ID', { share: 0.4 }),
      post_date: moment(),
      post_content: words(),
      post_status: oneOf('publish', 'draft'),
      post_parent: ref('bl_posts', 'ID', { nulls: 0.7, none: 0 }),
      menu_order: integer(0, 5),
      post_type: oneOf('post', 'page', 'attachment'),
      comment_count: integer(0, 30),
    },
  },
  bl_postmeta: {
    rows: 1300,
    key: ['meta_id'],
    columns: {
      meta_id: serial(),
      post_id: ref('bl_posts', 'ID'),
      meta_key: oneOf('_edit_lock', '_thumbnail_id', '_price'),
      meta_value: oneOf('1', '2', '17', 'yes'),
    },
  },
  bl_comments: {
    rows: 600,
    key: ['comment_ID'],
    columns: {
      comment_ID: serial(),
      comment_post_ID: ref('bl_posts', 'ID', { orphans: 0.02 }),
      comment_author: words(),
      comment_date: moment(),
      comment_content: words(),
      comment_karma: constant(0),
      comment_approved: oneOf('1', '0', 'spam'),
      comment_parent: ref('bl_comments', 'comment_ID', { nulls: 0.8, none: 0 }),
      user_id: ref('bl_users', 'ID', { nulls: 0.5, none: 0 }),
    },
  },
  bl_commentmeta: {
    rows: 120,
    key: ['meta_id'],
    columns: {
      meta_id: serial(),
      comment_id: ref('bl_comments', 'comment_ID'),
      meta_key: oneOf('rating', 'verified'),
      meta_value: oneOf('1', '5'),
    },
  },
  bl_terms: {
    rows: 90,
    key: ['term_id'],
    columns: { term_id: serial(), name: words(), slug: hex(9), term_group: constant(0) },
  },
  bl_term_taxonomy: {
    rows: 95,
    key: ['term_taxonomy_id'],
    columns: {
      term_taxonomy_id: serial(),
      term_id: ref('bl_terms', 'term_id'),
      taxonomy: oneOf('category', 'post_tag'),
      description: words(),
      parent: ref('bl_terms', 'term_id', { nulls: 0.6, none: 0, share: 0.3 }),
      count: integer(0, 60),
    },
    open: [[['parent'], 'bl_term_taxonomy', ['term_taxonomy_id']]],
  },
  bl_term_relationships: {
    rows: 800,
    key: ['object_id', 'term_taxonomy_id'],
    columns: {
      object_id: ref('bl_posts', 'ID'),
      term_taxonomy_id: ref('bl_term_taxonomy', 'term_taxonomy_id'),
      term_order: constant(0),
    },
  },
  bl_options: {
    rows: 150,
    key: ['option_id'],
    columns: {
      option_id: serial(),
      option_name: hex(12),
      option_value: words(),
      autoload: oneOf('yes', 'no'),
    },
  },
  bl_links: {
    rows: 0,
    key: ['link_id'],
    columns: {
      link_id: serial(),
      link_url: words(),
      link_name: words(),
      link_owner: integer(1, 1),
      link_rating: integer(0, 0),
    },
  },
};
