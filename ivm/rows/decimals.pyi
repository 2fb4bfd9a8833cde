KERNELS: dict[str, int]
