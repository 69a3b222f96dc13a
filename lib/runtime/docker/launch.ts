import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ContainerCreateOptions } from 'dockerode';
import { SandboxEnded, ServiceError } from '../../errors.ts';
import { hostError, isHostFault } from '../../host-error.ts';
import { isRunning } from '../../linux/is-running.ts';
import type { Turn } from '../../linux/shared-mappings.ts';
import { Executor, type ExecutorHost } from '../executor/executor.ts';
import { listeningPorts } from '../listening-ports.ts';
import { mappingsOf, watchesOf } from '../mappings-of.ts';
import { remove } from '../remove.ts';
import type { Command, OpenShell, RunningCommand, RunningSandbox, RunningShell, SandboxSpec } from '../runtime.ts';
import { outOfMemoryLine } from '../sandbox-environment.ts';
import { SandboxLife } from '../sandbox-life.ts';
import { hasShown, ShownLimits } from '../shown/shown-limits.ts';
import { containerState, createContainer, startContainer } from './bring-up.ts';
import { containerPlan } from './container.ts';
import { ContainerCgroup, cannotGroup, containerPlace } from './container-cgroup.ts';
import { defaultParent, noOwnerLimits } from './default-parent.ts';
import { ENTRYPOINT, RESET_SIGNALS, writePlainAgent } from './entrypoint.ts';
import { giveContainer, inspectLimits, type Limits, requireSameKinds } from './give-container.ts';
import { findImage, type ImageFacts, presentImage } from './images.ts';
import { notUp } from './not-up.ts';
import type { OwnerCgroup } from './owner-cgroups.ts';
import { checkPosture, statusOf } from './posture.ts';
import type { Shared } from './shared.ts';
import { killQuietly, unlessDying } from './unless-dying.ts';
import { withUser, writeUserFiles } from './user-files.ts';
import type { ContainerEnd } from './watch.ts';

/** Milliseconds for the daemon to report a container's end after its processes have exited. */
const END_EVENT_MS = 2000;

/** `readyOnly`: its id and resources are replaced by `assign`; an image that the daemon does not have is not pulled for it. */
export type LaunchSpec = SandboxSpec & { readyOnly?: boolean };

/** One sandbox in a container, from launch to stop. */
export class DockerSandbox implements RunningSandbox {
  readonly #life = new SandboxLife();
  #spec: LaunchSpec;
  readonly #shared: Shared;
  readonly #agentDir: string;
  readonly #host: ExecutorHost;
  #executor: Executor | undefined;
  #cgroup: ContainerCgroup | undefined;
  /** Present if the owner's sandboxes have limits together. */
  #ownerCgroup: OwnerCgroup | undefined;
  #containerId: string | undefined;
  #shown: ShownLimits | undefined;
  #imageId = '';
  #readyLimits: Limits | undefined;
  #init: number | undefined;
  /** Until its terminals are limited: commands wait for it, the launch does not. */
  #limiting: Promise<void> | undefined;
  #ended: Promise<ContainerEnd> | undefined;

  private constructor(spec: LaunchSpec, shared: Shared) {
    this.#spec = spec;
    this.#shared = shared;
    // Random instead of the sandbox's id, because the name is visible in the sandbox's mount table.
    const { fifos, scratch, paces, stopGraceMs, room, descriptors } = shared;
    this.#agentDir = join(shared.agentDirs, randomBytes(8).toString('hex'));
    this.#host = {
      dir: this.#agentDir,
      uid: spec.uid,
      groups: undefined,
      ...{ fifos, scratch, paces, stopGraceMs, room, descriptors },
      resetSignals: RESET_SIGNALS,
      sandboxId: spec.readyOnly ? '' : spec.id,
      hasNetwork: shared.enableNetworking && shared.networkMode !== 'none',
      javaOptions: hasShown(spec),
      outOfMemory: outOfMemoryLine(spec.resources, spec.owner),
      onActive: () => this.#shown?.refresh(),
      onBroken: (reason) => this.#markFailed(reason),
    };
  }

  get exited(): Promise<string> {
    return this.#life.exited;
  }

  /** Starts a sandbox and waits until it accepts commands. Cleans up if it fails. */
  static async launch(spec: LaunchSpec, shared: Shared): Promise<DockerSandbox> {
    if (spec.uid === 0) throw new ServiceError('INTERNAL', 'a sandbox never runs as root');
    const sandbox = new DockerSandbox(spec, shared);
    try {
      await sandbox.#start();
      return sandbox;
    } catch (error) {
      await sandbox.stop();
      throw hostError(error, 'the sandbox could not be started');
    }
  }

  /** Host pid of docker-init; undefined once the container ends. */
  get init(): number | undefined {
    return this.#init !== undefined && isRunning(this.#init) ? this.#init : undefined;
  }

  /** For one with `readyOnly`: resolves when nothing of its start is left to do; rejects if it failed. */
  async settled(): Promise<void> {
    const { daemon, times } = this.#shared;
    await this.#limiting;
    this.#readyLimits = await inspectLimits(daemon, this.#containerId!, times.callMs);
    if (this.#life.failureReason !== undefined) throw new Error(this.#life.failureReason);
  }

  /** See `Prepared`. Whatever has been started in its container is among them. */
  basePids(): number[] | undefined {
    return this.#life.failureReason === undefined ? this.#cgroup?.allPids() : undefined;
  }

  /** See `Prepared`. */
  async assign(spec: SandboxSpec): Promise<void> {
    const [id, init, limits] = [this.#containerId!, this.init, this.#readyLimits!];
    if (init === undefined) throw new SandboxEnded('the sandbox has ended');
    const before = this.#spec;
    requireSameKinds(spec.resources, before.resources);
    this.#spec = spec;
    await giveContainer(this.#shared, { id, init, imageId: this.#imageId, spec: before, limits }, spec);
    this.#cgroup?.setLimits(spec.resources);
    this.#shown?.change(spec.resources);
    this.#up.assign(spec.id, outOfMemoryLine(spec.resources));
  }

  get #up(): Executor {
    if (!this.#executor) throw new ServiceError('UNAVAILABLE', 'the sandbox is not up');
    return this.#executor;
  }

  async exec(command: Command): Promise<RunningCommand> {
    if (this.#limiting) await this.#limiting;
    return unlessDying(await this.#up.exec(command), () => this.#pendingEnd());
  }

  async openShell(request: OpenShell): Promise<RunningShell> {
    return this.#up.openShell(request, (command) => this.exec(command));
  }

  async ports() {
    return this.#up.ask(listeningPorts);
  }

  readonly sharedMappings = async (device: string, turn: Turn) => mappingsOf(this.#up, device, turn);
  readonly inotifyWatches = async (device: string, turn: Turn) => watchesOf(this.#up, device, turn);

  async network() {
    return this.#executor?.network() ?? 'present';
  }

  networkPid(): number {
    if (this.#host.hasNetwork) {
      const text = 'the sandbox has a network of Docker (runtime.docker.enable_networking), in place of one by rules';
      throw new ServiceError('FAILED_PRECONDITION', text);
    }
    if (this.#init === undefined || !isRunning(this.#init)) throw new SandboxEnded('the sandbox has ended');
    return this.#init;
  }

  setNetwork(variables: Readonly<Record<string, string>> | undefined, authorities?: string): void {
    this.#up.setNetwork(variables, authorities);
  }

  /** See `RunningSandbox`. */
  stop(reason = 'the sandbox was stopped', grace?: AbortSignal): Promise<void> {
    return this.#life.stop(() => this.#end(reason, grace));
  }

  async #start(): Promise<void> {
    const spec = this.#spec;
    const { daemon, times, watch } = this.#shared;
    const image = await (spec.readyOnly ? presentImage : findImage)(daemon, spec.image, times);
    if (image === undefined) throw new Error('the daemon does not have the image');
    this.#imageId = image.id;
    if (spec.runDir !== '') mkdirSync(spec.runDir, { recursive: true, mode: 0o700 });
    this.#executor = await Executor.prepare(this.#host);
    writePlainAgent(this.#agentDir, this.#host);

    const userFiles = join(this.#agentDir, 'etc');
    writeUserFiles(userFiles);
    const plan = this.#plan(image);
    if (spec.owner !== undefined) {
      const findParent = () => defaultParent(daemon, plan, spec.image, times);
      this.#ownerCgroup = await this.#shared.owners.enter(spec.owner, findParent);
      plan.HostConfig = { ...plan.HostConfig, CgroupParent: this.#ownerCgroup.path };
    }
    this.#shared.containers.want(spec.id);
    this.#containerId = await createContainer(daemon, plan, spec.image, times);
    const inImage = await this.#shared.userFiles.read(image.id, this.#containerId, times.callMs);
    writeUserFiles(userFiles, withUser(inImage, spec.uid));
    const ended = new Promise<ContainerEnd>((resolve) => watch.add(this.#containerId as string, resolve));
    this.#ended = ended;
    void ended.then((end) => this.#onEnd(end));
    await startContainer(daemon, this.#containerId, spec.image, times);
    await this.#enterGroups(this.#containerId);
    const early = ended.then((end) => Promise.reject(this.#notUp(end)));
    await Promise.race([this.#executor.ready(), early]);
    // Not earlier: runc drops its last privileges when it becomes the container's main process.
    const status = statusOf(this.#init as number);
    if (status === '') throw this.#notUp({ reason: 'its container ended' });
    checkPosture(status, spec.uid);
  }

  #plan({ id: imageId, volumes: imageVolumes }: ImageFacts): ContainerCreateOptions {
    const spec = { ...this.#spec, javaOptions: this.#host.javaOptions };
    const { instance, networkMode, enableNetworking, seccomp, tmpBytes, machine } = this.#shared;
    this.#shown = new ShownLimits(this.#agentDir, machine, spec, () => this.#cgroup?.counters ?? {});
    return containerPlan({
      ...{ spec, instance, imageId, imageVolumes, networkMode, enableNetworking, seccomp, tmpBytes },
      readyOnly: spec.readyOnly ?? false,
      agentDir: this.#agentDir,
      shown: this.#shown.files,
      command: ['/bin/sh', '-c', ENTRYPOINT],
    });
  }

  async #enterGroups(id: string): Promise<void> {
    const state = await containerState(this.#shared.daemon, id, this.#shared.times);
    if (!state.Running) throw this.#notUp({ reason: 'its container ended', exitCode: state.ExitCode });
    try {
      if (this.#ownerCgroup?.holds(id, state.Pid) === false && isRunning(state.Pid)) {
        throw noOwnerLimits('the daemon did not put the container into the owner’s cgroup');
      }
      const place = containerPlace(id, state.Pid, this.#shared.groupsName);
      this.#cgroup = await ContainerCgroup.enter(place, this.#spec.id, this.#spec.resources, this.#shared.descriptors);
      this.#host.groups = this.#cgroup;
      this.#init = state.Pid;
      // The earlier the better: from here on, a shell of the image runs.
      this.#limitTerminals(state.Pid);
    } catch (cause) {
      if (cause instanceof ServiceError || isHostFault(cause)) throw cause;
      // It may have ended since the daemon was asked.
      if (!isRunning(state.Pid)) throw this.#notUp((await this.#endEvent()) ?? { reason: 'its container ended' });
      throw cannotGroup(cause);
    }
  }

  #limitTerminals(init: number): void {
    this.#limiting = this.#shared.terminals.apply(init);
    this.#limiting.then(
      () => {
        this.#limiting = undefined;
      },
      (error: Error) => this.#markFailed(error.message),
    );
  }

  #notUp(end: ContainerEnd): ServiceError {
    return notUp(this.#spec.image, end);
  }

  /** Returns a reason if the container is ending and the daemon has not reported it yet. */
  async #pendingEnd(): Promise<string | undefined> {
    if (this.#init === undefined || isRunning(this.#init)) return undefined;
    const end = await this.#endEvent();
    return this.#life.failureReason ?? end?.reason ?? 'its container ended';
  }

  /** Waits for the daemon's report of the container's end, which may be late. */
  #endEvent(): Promise<ContainerEnd | undefined> {
    return Promise.race([this.#ended, delay(END_EVENT_MS, undefined, { ref: false })]);
  }

  #onEnd({ reason }: ContainerEnd): void {
    this.#executor?.close(this.#life.markExited(reason));
  }

  /** Kills the container; `exited` resolves with the reason once it has ended. */
  #markFailed(reason: string): void {
    this.#life.markFailed(reason);
    this.#kill();
  }

  /** Never throws: if no descriptor is free, docker-init is killed, which ends its pid namespace. */
  #kill(): void {
    try {
      // What is left is killed with the container.
      this.#shared.descriptors.use(() => this.#cgroup?.kill())?.catch(() => {});
    } catch {
      if (this.#init !== undefined) killQuietly(this.#init);
    }
  }

  /** Kills the processes first, which does not need the daemon. */
  async #end(reason: string, grace: AbortSignal | undefined): Promise<void> {
    if (grace) await this.#executor?.terminate(reason, grace);
    const { watch, containers } = this.#shared;
    if (this.#containerId !== undefined) watch.remove(this.#containerId);
    this.#executor?.close(reason);
    this.#kill();
    // The removal of the container kills the processes that remain.
    await this.#cgroup?.remove().catch(() => false);
    await containers.discard(this.#spec.id, this.#containerId);
    this.#ownerCgroup?.leave();
    remove(this.#agentDir);
    if (this.#spec.runDir !== '') remove(this.#spec.runDir);
  }
}
