import type { Entity } from './entity.ts';
import type { NamingStyle } from './naming-style.ts';
import type { Random } from './random.ts';

const mixedLinkStyles = [
  'entity_suffix',
  'parent_key',
  'fk_entity',
  'entity',
  'abbr_suffix',
] as const;

/** Names tables and columns in the style of one schema. */
export class Namer {
  private readonly random: Random;
  readonly style: NamingStyle;

  constructor(random: Random, style: NamingStyle) {
    this.random = random;
    this.style = style;
  }

  /** Joins words in the schema's letter case. */
  caseWords(words: readonly string[]): string {
    const parts = words.flatMap((word) => word.split(/[ _]/)).filter((word) => word !== '');
    const capital = (word: string): string =>
      word === 'id' && this.style.plural ? 'ID' : word.slice(0, 1).toUpperCase() + word.slice(1);
    switch (this.style.casing) {
      case 'snake':
        return parts.join('_');
      case 'upper':
        return parts.join('_').toUpperCase();
      case 'glued':
        return parts.join('');
      case 'pascal':
        return parts.map(capital).join('');
      case 'camel':
      default:
        return parts.map((word, index) => (index === 0 ? word : capital(word))).join('');
    }
  }

  /** The words with the last one in plural, if the schema uses plurals. */
  plural(words: readonly string[]): string[] {
    if (!this.style.plural) return [...words];
    const last = words.at(-1) ?? '';
    const ending =
      this.style.lang === 'de'
        ? `${last}en`
        : last.endsWith('y')
          ? `${last.slice(0, -1)}ies`
          : /(s|x|ch|sh)$/.test(last)
            ? `${last}es`
            : `${last}s`;
    return [...words.slice(0, -1), ending];
  }

  tableName(words: readonly string[]): string {
    const prefix = {
      none: [],
      tbl: ['tbl'],
      app: ['app'],
      star: this.random.chance(0.5) ? ['bridge'] : [],
    }[this.style.tablePrefix];
    return this.caseWords([...prefix, ...this.plural(words)]);
  }

  /** The first letters, or the consonants. */
  abbreviation(words: readonly string[]): string {
    const word = words.join('');
    if (words.length > 1 && this.random.chance(0.4)) return words.map((part) => part[0]).join('');
    if (this.random.chance(0.6)) return word.slice(0, 3 + this.random.int(2));
    return (
      (word[0] ?? '') +
      word
        .slice(1)
        .replaceAll(/[aeiou]/g, '')
        .slice(0, 3)
    );
  }

  keyName({ words, kind }: Entity): string {
    const { key, suffix } = this.style;
    switch (key) {
      case 'id':
        return this.caseWords(['id']);
      case 'entity_id':
        return this.caseWords([...words, 'id']);
      case 'entity_suffix':
        return this.caseWords([...words, suffix]);
      case 'id_entity':
        return this.caseWords(['id', ...words]);
      case 'abbr_id':
        return this.caseWords([this.abbreviation(words), suffix]);
      case 'pk_entity':
        return this.caseWords([this.random.pick(['pk', 'sk']), ...words]);
      case 'name':
      default:
        return kind === 'lookup'
          ? this.caseWords([this.random.pick(['code', 'name', words.at(-1) ?? ''])])
          : this.caseWords([...words, suffix]);
    }
  }

  /** The name of a column that refers to `parent`, in the schema's style. */
  linkName(parent: Entity, role: string | undefined): string {
    const { words } = parent;
    const { key } = this.style;
    const hasIdKey = key === 'id' || key === 'id_entity' || key === 'pk_entity';
    const suffix = hasIdKey ? 'id' : this.style.suffix;
    const style = this.style.link === 'mixed' ? this.random.pick(mixedLinkStyles) : this.style.link;
    const roleWords = role === undefined ? [] : [role];
    const word = words.join('');
    if (role === undefined && word.length > 5 && this.random.chance(0.03))
      return this.caseWords([word.slice(0, 4), this.random.pick(['via', 'used', 'set', 'by'])]);
    switch (style) {
      case 'parent_key':
        return this.parentKeyName(parent, role, suffix);
      case 'fk_entity':
        return this.caseWords(['fk', ...roleWords, ...words]);
      case 'id_entity':
        return this.caseWords(['id', ...roleWords, ...words]);
      case 'entity':
        return this.caseWords([...roleWords, ...words]);
      case 'abbr_suffix':
        return this.caseWords([...roleWords, this.abbreviation(words), suffix]);
      case 'entity_suffix':
      default:
        return this.caseWords([...roleWords, ...words, suffix]);
    }
  }

  /** The name of the parent's key; a generic name such as `id` gets the words of the parent. */
  private parentKeyName(
    { words, keyName, prefix }: Entity,
    role: string | undefined,
    suffix: string,
  ): string {
    const bareKey = keyName.slice(prefix.length);
    const isGeneric = /^(id|code|name)$/i.test(bareKey) || words.at(-1) === bareKey.toLowerCase();
    const roleWords = role === undefined ? [] : [role];
    if (isGeneric) return this.caseWords([...roleWords, ...words, suffix]);
    if (role === undefined) return bareKey;
    const isJoined = this.style.casing === 'pascal' || this.style.casing === 'glued';
    return `${this.caseWords([role])}${isJoined ? '' : '_'}${bareKey}`;
  }

  roleName(role: string): string {
    return this.caseWords(this.random.chance(0.55) ? [role, 'id'] : [role]);
  }
}
