FIELDS: dict[str, int]
KERNELS: dict[str, int]
