hsumma profile 1
# Nodes with two Haswell Xeons and Omni-Path, cluster C. The figures are assumptions, for the figures of the paper on DPML.
network.alpha_s 1.1e-6
network.beta_s_per_byte 4e-10
inject_s_per_byte 8.7e-11
shm.alpha_s 2e-7
shm.beta_s_per_byte 1.7e-10
gamma_s_per_byte 2e-10
end
