hsumma profile 1
# Blue Waters (Cray XE6), messages below 8,000 bytes: short ones (below 500 bytes) and eager ones. Fitted to the ping-pong times in
# github.com/bienz2/BlueWatersModel (BSD-2): doc/results/papers/nap.md. Longer messages: blue_waters_long.profile.
network.alpha_s 2.266e-6
network.beta_s_per_byte 7.42e-10
network.eager_bytes 499
network.rendezvous_alpha_s 6.951e-6
network.rendezvous_beta_s_per_byte 1.330e-9
inject_s_per_byte 1.4988e-10
node.alpha_s 8.282e-7
node.beta_s_per_byte 2.104e-9
node.eager_bytes 499
node.rendezvous_alpha_s 1.205e-6
node.rendezvous_beta_s_per_byte 1.039e-9
socket.alpha_s 4.422e-7
socket.beta_s_per_byte 4.562e-10
socket.eager_bytes 499
socket.rendezvous_alpha_s 5.323e-7
socket.rendezvous_beta_s_per_byte 3.109e-10
gamma_s_per_byte 1.444e-9
copy_s_per_byte 0
end
