import type { Api } from './api.ts';
import type {
  PermissionExplanation,
  PermissionRule,
  PermissionRules,
  PreviewFileResponse,
  Sandbox as SandboxInfo,
} from './contract/messages.ts';
import { relative } from './files.ts';
import { joined } from './http/arguments.ts';
import type { CallOptions } from './http/call.ts';
import { requireForm } from './http/forms.ts';

/** Rules: those of a preset, and the given ones, in the short form or one by one. */
export interface RuleOptions {
  /** "none": only the given rules. Absent: see `defaultPreset`. */
  preset?: string | undefined;
  /** Patterns for each permission: `{ write: ['src/**'], none: ['.env*'] }`. */
  rules?: Partial<PermissionRules> | undefined;
  permissions?: readonly Partial<PermissionRule>[] | undefined;
}

/**
 * The preset of rules whose caller names none, the same in all clients: "development", or "agent-safe" if rules say what
 * commands may do. Rules that only show contents say nothing of that.
 */
export function defaultPreset({ rules = {}, permissions = [] }: RuleOptions): string {
  const { shown: _, ...lists } = rules;
  const areNamed = permissions.length > 0 || Object.values(lists).some((list) => list !== undefined && list.length > 0);
  return areNamed ? 'agent-safe' : 'development';
}

/** As the service takes it. */
export const presetOf = (preset: string | undefined): string | undefined => (preset === 'none' ? undefined : preset);

export const presetFor = (rules: RuleOptions): string | undefined => presetOf(rules.preset ?? defaultPreset(rules));

/** The rules of a sandbox. */
export class Rules {
  readonly #api: Api;
  readonly #of: { sandboxId: string };

  constructor(api: Api, sandboxId: string) {
    this.#api = api;
    this.#of = { sandboxId };
  }

  /** The rules in force, in the long form. */
  async get(options?: CallOptions): Promise<readonly PermissionRule[]> {
    return (await this.#api.getSandbox(this.#of, options)).permissions;
  }

  /**
   * Replaces all rules, as `create` takes them: with `preset: 'none'` the given ones stand alone. They are in force when this
   * resolves, for open files, too.
   */
  set(rules: RuleOptions, options?: CallOptions): Promise<SandboxInfo> {
    const given = joined<RuleOptions>(rules);
    return this.#api.updatePermissions(this.#of, joined(given, { preset: presetFor(given) }, options));
  }

  /** What a command may do at a path, and which rule says so. The root is "/workspace". */
  async explain(
    path: string,
    options: { as?: 'agent' | 'owner' | undefined } & CallOptions = {},
  ): Promise<PermissionExplanation> {
    requireForm('path', path, '!string');
    return this.#api.explainPermission({ ...this.#of, path: relative(path) }, options);
  }

  /** A file as commands read it, where a rule with `view` "redacted" decides: placeholders, and the keys of their values. */
  preview(path: string, options?: CallOptions): Promise<PreviewFileResponse> {
    return this.#api.previewFile({ ...this.#of, path: relative(path) }, options);
  }
}
