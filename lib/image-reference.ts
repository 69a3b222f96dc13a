/** Characters of a container image reference, in a request and in a runtime. */
export const MAX_IMAGE_LENGTH = 512;
