import { describe, expect, test } from 'vitest';
import { foundJoins } from '../support/found-joins.ts';

const pages = `
page 800
  pid sparse=1+2 !
  rvid =page_revision.rvid+0*2
  uuid uuid
page_data 800
  pid =page.pid !
  rvid =page_revision.rvid+0*2
  title words
page_revision 1900
  pid >page.pid
  rvid sparse=1+3 !
  edited date
`;

describe('of tables with the same keys, row by row', () => {
  test('the one that is called by fewer words has the rows', async () => {
    const { accepted } = await foundJoins(pages, 'keys');
    expect(accepted).toContain('page_data.pid -> page.pid');
    expect(accepted).toContain('page_revision.pid -> page.pid');
    expect(accepted).not.toContain('page.pid -> page_data.pid');
  });

  test('other tables refer to the rows, not to what is added to them', async () => {
    const { accepted } = await foundJoins(`
reply 600
  rid sparse=1+2 !
  uuid uuid
reply_field_data 600
  rid =reply.rid !
  parent >reply.rid null=.6
  subject words
`);
    expect(accepted).toEqual([
      'reply_field_data.parent -> reply.rid',
      'reply_field_data.rid -> reply.rid',
    ]);
  });

  test('a counted key is no doubt where the names are the same', async () => {
    const { accepted } = await foundJoins(`
users 300
  uid serial !
users_data 300
  uid =users.uid !
  name words
  mail email
`);
    expect(accepted).toEqual(['users_data.uid -> users.uid']);
  });
});

test('a column refers to a key, not to a number that each row of a smaller table has', async () => {
  const { accepted } = await foundJoins(pages, 'keys');
  expect(accepted).toContain('page.rvid -> page_revision.rvid');
  expect(accepted).toContain('page_data.rvid -> page_revision.rvid');
});

test('what two tables have under one name is a copy, if one refers to the other', async () => {
  const { accepted } = await foundJoins(`
article_variant 700
  id sparse=330000+21 !
  store_item_id =store_item.id
  label words
  sku code=SKU
store_item 700
  id sparse=340000+21 !
  cost num=60
  sku code=SKU
`);
  expect(accepted).toEqual(['article_variant.store_item_id -> store_item.id']);
});

test('yes and no, and kinds that are counted from 0, refer to nothing', async () => {
  const { accepted } = await foundJoins(`
purchase 500
  id sparse=1+2 !
  invoice flag
  payer oneof=0|1|2|3
invoice 620
  id sparse=1+2 !
  purchase_id >purchase.id
account 3
  id serial !
  label words
`);
  expect(accepted).toEqual(['invoice.purchase_id -> purchase.id']);
});

test('the numbers of places in a tree refer to nothing', async () => {
  const { accepted } = await foundJoins(`
area 40
  id serial !
  name words
  nright serial=2+2
state 80
  id serial !
  name words
`);
  expect(accepted).toEqual([]);
});

test('one value in all rows says nothing about a table of which the name has one word', async () => {
  const { accepted } = await foundJoins(`
customers 700
  customer_id sparse=1+2 !
  shop_group_id const=1
  default_language_id const=1
groups 3
  group_id serial !
  name words
languages 4
  language_id serial !
  name words
`);
  expect(accepted).toEqual(['customers.default_language_id -> languages.language_id']);
});

test('who created the rows of a table of four rows is told by those of other tables', async () => {
  const { accepted } = await foundJoins(`
users 40
  user_id serial !
  username words
concepts 1800
  concept_id sparse=1+3 !
  creator >users.user_id share=.1
visits 900
  visit_id serial !
  creator >users.user_id
forms 16
  form_id serial !
  creator >users.user_id share=.2
kinds 4
  kind_id serial !
  creator >users.user_id share=.1
`);
  expect(accepted).toContain('kinds.creator -> users.user_id');
});
