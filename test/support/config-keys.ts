interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: Node | boolean;
  readonly anyOf?: readonly Node[];
  readonly oneOf?: readonly Node[];
  readonly allOf?: readonly Node[];
  readonly items?: Node | boolean;
}

/**
 * The way to everything in a JSON Schema that can be set: `a.b`, `list[].c`, `by_name.*.d`. A text
 * beside an object has both.
 */
export function leafKeys(schema: unknown): readonly string[] {
  return [...new Set(leaves(schema as Node, ''))].sort();
}

function leaves(node: Node, path: string): string[] {
  const branches = [...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])];
  if (branches.length > 0) return branches.flatMap((branch) => leaves(branch, path));
  const { properties, additionalProperties: named, items } = node;
  if (properties !== undefined) {
    return Object.entries(properties).flatMap(([key, inner]) =>
      leaves(inner, path === '' ? key : `${path}.${key}`),
    );
  }
  if (typeof named === 'object' && Object.keys(named).length > 0) return leaves(named, `${path}.*`);
  return typeof items === 'object' && Object.keys(items).length > 0
    ? leaves(items, `${path}[]`)
    : [path];
}
