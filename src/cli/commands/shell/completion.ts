import { Argument } from '@commander-js/extra-typings';
import { defineCommand } from '../../command.ts';

/**
 * Each script passes the line up to the cursor to `ktx completion --line`, which prints one
 * candidate per line.
 */
const scripts = {
  // Bash splits words at colons and expects only the part after the last one.
  bash: `_ktx() {
  local line="\${COMP_LINE:0:$COMP_POINT}" word cut
  word="\${line##*[[:space:]]}"
  mapfile -t COMPREPLY < <("$1" completion --line "$line" 2>/dev/null)
  if [[ $word == *:* && $COMP_WORDBREAKS == *:* ]]; then
    cut="\${word%"\${word##*:}"}"
    COMPREPLY=("\${COMPREPLY[@]#"$cut"}")
  fi
}
complete -o default -F _ktx ktx
`,
  zsh: `#compdef ktx
_ktx() {
  local -a found
  found=("\${(@f)$(\${words[1]} completion --line "\${(j: :)words[1,CURRENT]}" 2>/dev/null)}")
  if [[ -n \${found[1]} ]]; then compadd -a found; else _files; fi
}
compdef _ktx ktx
`,
  fish: `complete -c ktx -a '(ktx completion --line (commandline -cp | string collect) 2>/dev/null)'
`,
} as const;

const shells = Object.keys(scripts) as (keyof typeof scripts)[];

export const completionCommand = defineCommand({
  description:
    'Prints the completion script for your shell. It completes commands, flags, and the names in the current project: connections, ' +
    'datasets, metrics, fields, subjects, question sets, cases, agents, and ids of recent queries.',
  examples: [
    [
      'eval "$(ktx completion bash)"',
      'add this to ~/.bashrc; for zsh, use "zsh" and add it to ~/.zshrc, after compinit',
    ],
    ['ktx completion fish > ~/.config/fish/completions/ktx.fish', 'run this once for fish'],
  ],
  define: (command) => command.addArgument(new Argument('<shell>', 'your shell').choices(shells)),
  async run({ args: [shell] }) {
    const script = scripts[shell];
    return { data: { script }, text: script.trimEnd() };
  },
});
