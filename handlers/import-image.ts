import { MAX_IMAGE_LENGTH } from '../lib/image-reference.ts';
import { defineUpload, IMAGE_NAME } from './define.ts';

/** Stores an image at the end of its archive; an error of the archive stores nothing. */
export const importImage = defineUpload(
  'ImportImage',
  { name: { required: true, maxLength: MAX_IMAGE_LENGTH, pattern: IMAGE_NAME } },
  ({ name }, archive, { services }) => services.images.import(name, archive),
);
