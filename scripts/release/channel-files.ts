// What the channels other than npm need, made from package.json: a version stands in one place.

export interface ReleasedPackage {
  readonly name: string;
  readonly version: string;
  readonly description: string;
}

/** Files that are in the repository, by path. A test fails where they are out of step. */
export function committedChannelFiles(released: ReleasedPackage): ReadonlyMap<string, string> {
  return new Map([
    ['.claude-plugin/marketplace.json', json(marketplace(released))],
    ['channels/claude-code/.claude-plugin/plugin.json', json(plugin(released))],
    ['channels/claude-code/.mcp.json', json(pluginServers(released))],
    ['channels/mcpb/manifest.json', json(bundleManifest(released))],
  ]);
}

/** What only the owner of the repository can fill in. */
export interface ReleaseOwner {
  /** On GitHub. */
  readonly owner: string;
  /** SHA-256 of the tarball that npm publishes, which the release on GitHub has as a file. */
  readonly sha256: string;
}

/** Files of one release, by path below its folder. */
export function releaseFiles(
  released: ReleasedPackage,
  { owner, sha256 }: ReleaseOwner,
): ReadonlyMap<string, string> {
  return new Map([
    ['server.json', json(registryEntry(released, owner))],
    ['ktx.rb', formula(released, { owner, sha256 })],
  ]);
}

/** The name of the server in the MCP registry; package.json has the same as `mcpName`. */
export const registryName = (owner: string): string => `io.github.${owner}/ktx`;

const shortDescription =
  'Answers metric questions about a data warehouse with correct SQL and receipts.';

function registryEntry({ name, version }: ReleasedPackage, owner: string): object {
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name: registryName(owner),
    title: 'ktx',
    description: shortDescription,
    version,
    repository: { url: `https://github.com/${owner}/ktx`, source: 'github' },
    packages: [
      {
        registryType: 'npm',
        identifier: name,
        version,
        runtimeHint: 'npx',
        transport: { type: 'stdio' },
        packageArguments: [
          { type: 'positional', value: 'mcp' },
          { type: 'positional', value: 'serve' },
        ],
        environmentVariables: [
          {
            name: 'KTX_PROJECT_DIR',
            description: 'The folder with ktx.yaml; ktx setup makes one.',
            format: 'filepath',
            isRequired: true,
          },
          {
            name: 'WAREHOUSE_URL',
            description: 'The address of the warehouse, if ktx.yaml names env:WAREHOUSE_URL.',
            isSecret: true,
          },
        ],
      },
    ],
  };
}

const server = ({ name, version }: ReleasedPackage) => ({
  command: 'npx',
  args: ['-y', `${name}@${version}`, 'mcp', 'serve'],
});

function plugin({ version, description }: ReleasedPackage): object {
  return {
    name: 'ktx',
    version,
    description,
    author: { name: 'The authors of ktx' },
    license: 'Apache-2.0',
    keywords: ['semantic-layer', 'sql', 'metrics', 'mcp'],
  };
}

function pluginServers(released: ReleasedPackage): object {
  return { mcpServers: { ktx: server(released) } };
}

function marketplace({ version, description }: ReleasedPackage): object {
  return {
    name: 'ktx',
    owner: { name: 'The authors of ktx' },
    metadata: { description, version },
    plugins: [{ name: 'ktx', source: './channels/claude-code', description, version }],
  };
}

/** The bundle has an installation of the package, so that the client needs no npm. */
function bundleManifest({ version, description }: ReleasedPackage): object {
  const entry = 'node_modules/ktx/bin/ktx.js';
  return {
    manifest_version: '0.3',
    name: 'ktx',
    display_name: 'ktx',
    version,
    description,
    author: { name: 'The authors of ktx' },
    license: 'Apache-2.0',
    server: {
      type: 'node',
      entry_point: entry,
      mcp_config: {
        command: 'node',
        args: [`\${__dirname}/${entry}`, 'mcp', 'serve'],
        env: {
          KTX_PROJECT_DIR: '${user_config.project}',
          WAREHOUSE_URL: '${user_config.warehouse_url}',
        },
      },
    },
    user_config: {
      project: {
        type: 'directory',
        title: 'Project folder',
        description: 'The folder with ktx.yaml; ktx setup makes one.',
        required: true,
      },
      warehouse_url: {
        type: 'string',
        title: 'Address of the warehouse',
        description: 'Only if ktx.yaml names env:WAREHOUSE_URL.',
        sensitive: true,
        required: false,
        default: '',
      },
    },
    compatibility: { runtimes: { node: '>=24.10' } },
  };
}

function formula(
  { name, version, description }: ReleasedPackage,
  { owner, sha256 }: ReleaseOwner,
): string {
  const [sentence = ''] = description.split(':');
  return `class Ktx < Formula
  desc "${sentence}"
  homepage "https://github.com/${owner}/ktx"
  url "https://github.com/${owner}/ktx/releases/download/v${version}/${name}-${version}.tgz"
  sha256 "${sha256}"
  license "Apache-2.0"

  depends_on "node@24"

  def install
    system "npm", "install", *std_npm_args
    (bin/"ktx").write_env_script libexec/"bin/ktx", PATH: "#{Formula["node@24"].opt_bin}:$PATH"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/ktx --version")
  end
end
`;
}

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
