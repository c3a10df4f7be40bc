typedef int decode_is_empty;
