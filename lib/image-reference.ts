/** Maximum characters of a container image reference, for requests and runtimes. */
export const MAX_IMAGE_LENGTH = 512;
