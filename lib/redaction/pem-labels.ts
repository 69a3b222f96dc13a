export const BEGIN = /^-----BEGIN ([A-Z0-9][A-Z0-9 ]{0,63})-----\s*$/;
export const END = /^-----END ([A-Z0-9][A-Z0-9 ]{0,63})-----\s*$/;

const PUBLIC =
  /^((TRUSTED |X509 |ATTRIBUTE )?CERTIFICATE|(NEW )?CERTIFICATE REQUEST|X509 CRL|([A-Z0-9]+ )?PUBLIC KEY|[A-Z0-9 .]+ PARAMETERS)$/;

/** Whether what is in blocks of this label may be known to everybody. */
export const isPublic = (label: string): boolean => PUBLIC.test(label);
