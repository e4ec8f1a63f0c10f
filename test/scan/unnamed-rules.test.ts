import { expect, test } from 'vitest';
import { foundJoins } from '../support/found-joins.ts';

test('a key that leaves numbers out has them from the table where they end', async () => {
  const { accepted } = await foundJoins(`
asset 600
  asset_id serial !
  bought date
crane 150
  crane_id =asset.asset_id+0*4 !
  reach num=90
pump 200
  pump_id =asset.asset_id+1*3 !
  litres int=200..9000
refill 900
  refill_id serial !
  pump_id >pump.pump_id
`);
  expect(accepted).toEqual([
    'crane.crane_id -> asset.asset_id',
    'pump.pump_id -> asset.asset_id',
    'refill.pump_id -> pump.pump_id',
  ]);
});

test('a key has its numbers from no table that refers to it', async () => {
  const { accepted } = await foundJoins(`
vote 1200
  id serial !
  post_id >post.id
post 400
  id =vote.id+1*3 !
  title words
`);
  expect(accepted).toEqual(['vote.post_id -> post.id']);
});

test('where a row leads from and to, in any language that the words are known in', async () => {
  const { accepted } = await foundJoins(`
sklad 22
  id serial !
  nazev words
pohyb 2100
  id serial !
  odkud >sklad.id
  kam >sklad.id
  kusy int=1..300
`);
  expect(accepted).toEqual(['pohyb.kam -> sklad.id', 'pohyb.odkud -> sklad.id']);
});

test('who is called by what they do is a person, beside what only persons have', async () => {
  const { accepted } = await foundJoins(`
councillor 15
  Councillor_ID serial !
  Name words
  Age int=31..70
vote 40
  Vote_ID serial !
  Mover >councillor.Councillor_ID
  Seconder >councillor.Councillor_ID
  Ayes int=0..15
`);
  expect(accepted).toEqual([
    'vote.Mover -> councillor.Councillor_ID',
    'vote.Seconder -> councillor.Councillor_ID',
  ]);
});

test('a letter at the end of a name is a role', async () => {
  const { accepted } = await foundJoins(`
city 7
  City_ID serial !
  Title words
fair 6
  Fair_ID serial !
  Theme words
  Stands int=2..40
twinning 8
  Twin_ID serial !
  City_a >city.City_ID
  City_b >city.City_ID
  Visits int=1..7
`);
  expect(accepted).toEqual(['twinning.City_a -> city.City_ID', 'twinning.City_b -> city.City_ID']);
});

test('names that a table has for its key are references, and places in a grid are none', async () => {
  const { accepted } = await foundJoins(`
stop 140
  stop_name words !
  zone int=1..6
lost_item 300
  item_no serial !
  handed_in >stop.stop_name
  label words
  x int=1..140
  y int=1..140
`);
  expect(accepted).toEqual(['lost_item.handed_in -> stop.stop_name']);
});

test('numbers that somebody gives to each are keys, and a letter may stand for a table', async () => {
  const { accepted } = await foundJoins(`
worker 18
  fname words
  lname words
  ssn serial=123456789+10917 !
  super_ssn >worker.ssn null=.2
  dno >department.dnumber
department 5
  dname words
  dnumber serial !
`);
  expect(accepted).toEqual(['worker.dno -> department.dnumber', 'worker.super_ssn -> worker.ssn']);
});

test('one of two references that name no table refers to what the other one clearly refers to', async () => {
  const { accepted } = await foundJoins(`
hero 900
  hero_id serial !
  title words
duel 1100
  duel_id serial !
  challenger_id >hero.hero_id
  winner_id >hero.hero_id null=.4
weapon 700
  weapon_id serial !
  hero_id >hero.hero_id
`);
  expect(accepted).toEqual([
    'duel.challenger_id -> hero.hero_id',
    'duel.winner_id -> hero.hero_id',
    'weapon.hero_id -> hero.hero_id',
  ]);
});
