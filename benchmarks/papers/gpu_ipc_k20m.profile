hsumma profile 1
# The machine of Faraji and Afsahi, GPU-Aware Intranode MPI_Allreduce (EuroMPI/ASIA 2014), Section 4, as this library's
# model sees it: one NVIDIA K20M, two Intel Xeon E5-2650. Rates follow from data sheets; latencies are guesses. Nothing
# was measured, and nothing was fitted to the paper's results.
#
# GPU memory: 208 GB/s; some 150 GB/s with error correction. A copy reads and writes, a sum reads each operand.
device.shm.beta_s_per_byte 1.33e-11
device.copy_s_per_byte 1.33e-11
device.gamma_s_per_byte 6.7e-12
# The launch of a copy or a kernel, the event of another process, the switch between processes (CUDA 5.5, without MPS).
device.shm.alpha_s 1e-5
device.signal_s 1e-5
device.turn_s 3e-5
# A message between processes through the host: PCI Express 2.0, 16 lanes (8 GB/s less protocol: 6 GB/s), to the host
# and back, and a message in host memory (node, as built in).
node.alpha_s 6e-7
node.beta_s_per_byte 1.2e-10
device.node.alpha_s 2.3e-5
device.node.beta_s_per_byte 4.54e-10
# A core of the host, with all 16 active: 102 GB/s of memory in all; a copy reads, writes, and reads the destination.
shm.alpha_s 1e-7
shm.beta_s_per_byte 4.7e-10
copy_s_per_byte 4.7e-10
gamma_s_per_byte 4.7e-10
signal_s 3e-7
end
