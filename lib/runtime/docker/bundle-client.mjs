/**
 * Leaves out of the bundle what the Docker client carries for transports and builds that are not offered: ssh (with
 * native parts), image building (tar), and BuildKit sessions (a second gRPC loader with files of its own). Loading one
 * of them throws.
 */
export const dockerClientPlugin = {
  name: 'docker-client',
  setup(build) {
    build.onResolve({ filter: /^(\.\/(ssh|session|buildkit)|tar-fs|@balena\/dockerignore)$/ }, ({ path, importer }) =>
      /node_modules\/(dockerode|docker-modem)\//.test(importer) ? { path, namespace: 'not-offered' } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'not-offered' }, ({ path }) => ({
      contents: `module.exports = () => { throw new Error(${JSON.stringify(`${path} is not part of this server`)}); };`,
    }));
  },
};
